-- The turns that an extraction has read stand in the span of its effect.
alter table recall.job_phases add column from_turn integer, add column to_turn integer;
