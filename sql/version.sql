-- Record the installed version.
insert into recall.migrations (version, checksum)
values (recall.version(), sha256(convert_to(recall.version(), 'UTF8')))
on conflict (version) do nothing;
