"""`pgrecall roles`."""

from __future__ import annotations

import click

from pgrecall.cli._output import print_json, print_sql, print_table
from pgrecall.cli._target import json_option, opened, target_option

__all__ = ["roles_command"]

# The roles that the schema grants to, and its owner unless that is a superuser.
_ROLES = b"""
select r.rolname::text as role, n.nspowner is not null as owns_schema,
       coalesce(jsonb_agg(m.rolname order by m.rolname collate "C")
                filter (where m.oid is not null), '[]') as members,
       format('do %%L;', format('begin create role %%I %%s; exception when duplicate_object then '
                                'null; end', r.rolname,
                                case when r.rolcanlogin then 'login' else 'nologin' end)),
       coalesce(jsonb_agg(format('do %%L;', format(
           'begin grant %%I to %%I with admin %%s, inherit %%s, set %%s; '
           'exception when undefined_object then raise warning using message = %%L; end',
           r.rolname, m.rolname, a.admin_option::text, a.inherit_option::text, a.set_option::text,
           format('role %%s does not exist yet: it is a member of %%s', m.rolname, r.rolname)))
           order by m.rolname collate "C") filter (where m.oid is not null), '[]')
  from pg_catalog.pg_roles as r
  left join pg_catalog.pg_namespace as n on n.nspname = 'recall' and n.nspowner = r.oid
  left join (
        -- each grantor of a membership has a row
        select g.roleid, g.member, bool_or(g.admin_option) as admin_option,
               bool_or(g.inherit_option) as inherit_option, bool_or(g.set_option) as set_option
          from pg_catalog.pg_auth_members as g
         group by g.roleid, g.member
       ) as a on a.roleid = r.oid
  left join pg_catalog.pg_roles as m on m.oid = a.member
 where not r.rolsuper
   and (n.oid is not null or r.rolname in (
            select (s.settings ->> 'role_prefix') || '_' || k.suffix
              from recall.get_settings() as s (settings)
             cross join unnest(array['owner', 'reader', 'writer', 'worker', 'admin'])
                        as k (suffix)))
 group by r.rolname, r.rolcanlogin, n.nspowner
 order by r.rolname collate "C"
"""


@click.command("roles")
@target_option
@click.option(
    "--sql",
    "as_sql",
    is_flag=True,
    help="Print statements that create the roles and their memberships in another cluster.",
)
@json_option
def roles_command(dsn: str | None, as_sql: bool, as_json: bool) -> None:
    """List the roles of the schema, and their members."""
    with opened(dsn, no_embedding=True) as memory:
        found = memory._core.write.query(_ROLES)
    if as_sql:
        # all roles exist before one becomes a member of another
        print_sql([*(row[3] for row in found), *(line for row in found for line in row[4])])
    elif as_json:
        print_json(
            [
                {"role": role, "owns_schema": owns, "members": members}
                for role, owns, members, *_ in found
            ]
        )
    else:
        print_table(
            ("role", "owns the schema", "members"),
            (
                (role, "yes" if owns else "", ", ".join(members))
                for role, owns, members, *_ in found
            ),
            wide="members",
        )
