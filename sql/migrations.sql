-- List the migrations of this release with the SHA-256 of each file, which psql cannot compute.
-- Made from migrations/ by `make generate`; a line never changes once it is released.
do $migrations$
begin
    perform set_config('recall.migrations', $list$
0001_add_turns_of_spans fa8d1d83f3d4e006ecfd850a108c1230a458db1d645c6f9158d223ee58ca8c9a
0002_add_message_words d6cc1db00e09a68826545b1c8d6a191df9105226bcc4841c3149d16a657f2cc7
0003_add_prompt_index ec1c6d0be27a22b174e28c9009e2d422bc3595fa3620ab23a495558e53a7ff7f
0004_split_check_index e51048fc3757025deee9b83ddb3175d8e62f209567a799f38d9b556a4a368745
$list$, true);
end;
$migrations$;
