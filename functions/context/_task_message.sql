-- Shorten the message of the current task to its tokens.
-- It loses the middle of its text, and images and files. A ciphertext stays whole; the driver
-- shortens the plaintext.
create or replace function recall._task_message(
    p_task               recall.current_task,
    p_tokens             bigint,
    p_tokens_per_message integer
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_text text;
begin
    if p_tokens >= p_task.token_count + p_tokens_per_message then
        return p_task.message;
    end if;
    v_text := recall._content_text(
        case when jsonb_typeof(p_task.message -> 'content') = 'string'
             then p_task.message ->> 'content' end,
        case when jsonb_typeof(p_task.message -> 'content') = 'array'
             then p_task.message -> 'content' end);
    if starts_with(v_text, 'sealed:v1:') then
        return p_task.message;
    end if;
    return p_task.message - 'name' || jsonb_build_object(
        'content', recall._shortened_text(v_text, p_tokens - p_tokens_per_message));
end;
$function$;

comment on function recall._task_message(recall.current_task, bigint, integer) is
    'The current task as a message of at most so many tokens.';
