import { textOf } from './read-json.ts';
import type { Json } from './read-json.ts';
import type { SourceExtras } from './source.ts';

/** A deploy key of GitHub, whose form Gitea has taken over. */
export const readDeployKey = (row: Json): SourceExtras['deployKeys'][number] => ({
  title: textOf(row['title']),
  line: textOf(row['key']),
  access: row['read_only'] === false ? 'write' : 'read',
});
