-- List the migrations of this release with the SHA-256 of each file, which psql cannot compute.
-- Made from migrations/ by `make generate`; a line never changes once it is released.
do $migrations$
begin
    perform set_config('recall.migrations', $list$
0001_add_turns_of_spans fa8d1d83f3d4e006ecfd850a108c1230a458db1d645c6f9158d223ee58ca8c9a
0002_add_message_words d6cc1db00e09a68826545b1c8d6a191df9105226bcc4841c3149d16a657f2cc7
0003_add_prompt_index 4fa9b9de43e8867e67fddd141fe6fe60ab758df4175a03072ee55eeab536ae9a
0004_split_check_index db1704d1feb4313c41461869df3db2dbb718c43049bab623c18ca3f97088d650
0005_bound_intervals cf8fabc1c930b8ed92eea2e89a5c1910962d5299f7ff2f50f45e3ec46fb84e70
0006_add_payload_digest d16056d8fbe7419f1caa084c342fc70afa18d4c1b29969c684b43f7aa2831b94
$list$, true);
end;
$migrations$;
