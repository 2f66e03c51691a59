-- Build the rows of memory_store for checked candidates.
-- Source, provenance, kind and confidence decide tier, scope, expiry and validation. Output of a
-- tool remains output of a tool, whatever provenance the candidate claims. A row of session tier is
-- local to its session, if it has one and is not verbatim.
create or replace function recall._candidate_rows(
    p_user_id    uuid,
    p_session    recall.sessions,
    p_candidates jsonb,
    p_ids        uuid[],
    p_now        timestamptz,
    p_settings   recall.settings
)
returns recall.memory_store[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_session_id  uuid        := p_session.session_id;
    v_session_end timestamptz := coalesce(p_session.expires_at, p_now + p_settings.session_ttl)
                                 + p_settings.session_memory_grace;
    v_review_at   timestamptz := case
        when recall._is_early_session(p_session, p_settings.review_first_sessions) then p_now end;
begin
    if p_settings.secrets <> 'keep' then
        p_candidates := recall._masked_candidates(p_candidates, p_settings);
    end if;
    return array(
        select row(
                   p_user_id,
                   coalesce(case when p_settings.has_sealed_users
                                 then recall._sealed_row(p_user_id, c.content) end,
                            p_ids[c.ordinal]),
                   case when t.is_local then v_session_id end, c.agent_id, t.tier,
                   case when t.is_local then 'local' else 'global' end, s.kind, c.slot, c.content,
                   recall._content_hash(c.content),
                   coalesce(c.token_count,
                            case when recall._is_sealed(c.content)
                                      then greatest(1, (length(c.content) - 120) / 4)
                                 else recall._estimate_tokens(c.content) end),
                   case when recall._is_sealed(c.content) then ''::tsvector
                        else recall._text_words(p_settings.language::regconfig, c.content) end,
                   s.provenance, s.source,
                   v_session_id, c.source_turn_ids[1], coalesce(c.source_turn_ids, '{}'),
                   s.confidence, coalesce(c.importance, 0.5), 0, 0, null,
                   coalesce(c.observed_at, p_now), c.valid_from, c.valid_to,
                   coalesce(c.review_at, v_review_at, p_now + k.review_after), p_now, p_now,
                   case
                       when c.expires_at is not null then c.expires_at
                       when s.is_verbatim then p_now + p_settings.verbatim_lifetime
                       when t.tier = 'session' then v_session_end
                       when t.tier = 'episodic' then p_now + least(
                           p_settings.episode_lifetime,
                           case when s.kind <> 'episode' then k.lifetime end)
                       when s.source not in ('manual', 'consolidation') then p_now + k.lifetime
                   end,
                   null, null, true, t.tier >= 'episodic', false, null, null,
                   coalesce(c.tags, '{}'), coalesce(c.metadata, '{}'),
                   t.is_local and c.expires_at is null, null, null, false,
                   false)::recall.memory_store
          from rows from (jsonb_to_recordset(p_candidates) as (
                   content text, kind text, slot text, tags text[], importance real,
                   confidence text, provenance recall.provenance, source text,
                   observed_at timestamptz, valid_from timestamptz, valid_to timestamptz,
                   expires_at timestamptz, review_at timestamptz, source_turn_ids uuid[],
                   token_count integer, agent_id text, metadata jsonb)) with ordinality
                   as c (content, kind, slot, tags, importance, confidence, provenance, source,
                         observed_at, valid_from, valid_to, expires_at, review_at,
                         source_turn_ids, token_count, agent_id, metadata, ordinal)
         cross join lateral recall._candidate_origin(
                   c.kind, c.source, c.provenance, c.confidence, c.metadata, v_session_id,
                   p_settings) as s (kind, source, provenance, confidence, is_verbatim)
          left join recall.memory_kinds as k on k.kind = s.kind
         cross join lateral (
                select recall._starting_tier(s.source, s.provenance, s.kind, s.confidence,
                                             s.is_verbatim, p_settings)
                offset 0
               ) as g (tier)
         cross join lateral (
                select g.tier, g.tier = 'session' and not s.is_verbatim and v_session_id is not null
               ) as t (tier, is_local)
         order by c.ordinal);
end;
$function$;

comment on function recall._candidate_rows(uuid, recall.sessions, jsonb, uuid[], timestamptz,
    recall.settings) is
    'The rows that checked candidates become when no similar memory exists.';
