-- Recognize a repeated append by SHA-256. Older receipts keep their hash until receipt_ttl ends.
-- squawk-ignore ban-drop-not-null
alter table recall.append_receipts alter column payload_hash drop not null;
alter table recall.append_receipts add column payload_digest bytea;
