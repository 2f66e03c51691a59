-- Return the weights of the parts of a score.
create or replace function recall._score_weights(
    p_settings   recall.settings,
    p_has_text   boolean,
    p_has_vector boolean
)
returns recall.score_weights
language sql
immutable
parallel safe
as $function$
    select case
               when not (p_has_text or p_has_vector)
                   then row(0, 0, 0, 0, 0, 1)::recall.score_weights
               when (p_settings).scoring = 'classic'
                   then row((p_settings).classic_similarity_weight, 0,
                            (p_settings).classic_freshness_weight,
                            (p_settings).classic_frequency_weight,
                            (p_settings).classic_authority_weight, 0)::recall.score_weights
               when p_has_text
                   then row((p_settings).hybrid_similarity_weight,
                            (p_settings).hybrid_lexical_weight,
                            (p_settings).hybrid_freshness_weight,
                            (p_settings).hybrid_frequency_weight,
                            (p_settings).hybrid_authority_weight, 0)::recall.score_weights
               else row(1, 0, 0, 0, 0, 0)::recall.score_weights
           end;
$function$;

comment on function recall._score_weights(recall.settings, boolean, boolean) is
    'Weights of the parts of a score, by whether the search has a text and a vector.';
