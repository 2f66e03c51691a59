// Sends calls of functions over pg; recall.ts has a typed method for each function.
//
// bigint becomes a BigInt: pg returns a text, and a number is not exact beyond 2^53. A date and an
// interval stay texts such as '2026-01-31' and '01:00:00'. A Date has milliseconds only.

import pg from 'pg';

/** A JSON value; the reference of a function has its form. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

/** A pool, or a connection of the caller: calls join its transaction. */
export interface Queryable {
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
}

/** An error of the database, with its SQLSTATE: RC001 to RC012 are those of pgrecall. */
export class RecallError extends Error {
  readonly sqlstate: string;
  readonly hint: string | undefined;
  readonly detail: string | undefined;

  constructor(error: pg.DatabaseError) {
    super(error.hint ? `${error.message} (${error.hint})` : error.message, { cause: error });
    this.name = 'RecallError';
    this.sqlstate = error.code ?? '';
    this.hint = error.hint;
    this.detail = error.detail;
  }
}

type Arguments = Record<string, unknown>;
type Types = Record<string, string>;

const INT8 = 20;
const DATE = 1082; // as a Date it would be a time in some zone
const INTERVAL = 1186;
// of these queries only: the application may have parsers of its own
const parsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === INT8) return BigInt;
    if (oid === DATE || oid === INTERVAL) return String;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig;

const vector = (value: number[] | null) => (value === null ? null : JSON.stringify(value));

/** Return a value in the form that pg sends for an SQL type. */
function sent(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type === 'jsonb') return JSON.stringify(value);
  if (type === 'halfvec') return vector(value as number[]);
  if (type === 'halfvec[]') return (value as (number[] | null)[]).map(vector);
  return value;
}

/** Return the expression of a parameter. The user becomes that of the transaction, too. */
function placeholder(name: string, key: string, number: number): string {
  const place = `$${number}`;
  if (key === 'user_id') {
    return `nullif(set_config('recall.user_id', ${place}::uuid::text, true), '')::uuid`;
  }
  if (name === 'ensure_user' && key === 'external_id') {
    const user = `recall.user_id(${place}::text)::text`;
    return `${place}::text || left(set_config('recall.user_id', ${user}, true), 0)`;
  }
  return place;
}

export class Client {
  readonly #db: Queryable;

  constructor(db: Queryable) {
    this.#db = db;
  }

  protected async none(name: string, given: Arguments, types: Types): Promise<void> {
    await this.#call(name, given, types, true);
  }

  protected async value<T>(name: string, given: Arguments, types: Types): Promise<T> {
    const [row] = await this.#call(name, given, types, true);
    return row!.value as T;
  }

  protected async rows<T>(name: string, given: Arguments, types: Types): Promise<T[]> {
    return (await this.#call(name, given, types, false)) as T[];
  }

  async #call(
    name: string,
    given: Arguments,
    types: Types,
    isValue: boolean,
  ): Promise<Arguments[]> {
    const unknown = Object.keys(given).find((key) => !(key in types));
    if (unknown !== undefined) throw new TypeError(`recall.${name} has no parameter ${unknown}`);
    const names = Object.keys(types).filter((key) => given[key] !== undefined);
    const places = names
      .map((key, place) => `p_${key} => ${placeholder(name, key, place + 1)}`)
      .join(', ');
    const call = `recall.${name}(${places})`;
    try {
      const result = await this.#db.query({
        text: isValue ? `select ${call} as value` : `select * from ${call}`,
        values: names.map((key) => sent(given[key], types[key]!)),
        types: parsers,
      });
      return result.rows;
    } catch (error) {
      throw error instanceof pg.DatabaseError ? new RecallError(error) : error;
    }
  }
}
