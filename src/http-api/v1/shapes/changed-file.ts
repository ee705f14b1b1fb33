import type { z } from 'zod';
import type { ChangedFile } from '../../../git/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import type { changedFile } from './pulls-schemas.ts';

/** Gitea's names for changes of a file. */
const statuses = {
  added: 'added',
  deleted: 'deleted',
  modified: 'changed',
  'type-changed': 'changed',
  renamed: 'renamed',
  copied: 'copied',
} as const;

/** Gitea's shape of a file that a commit or a pull request changes; `oid` is the commit whose contents are linked. */
export function showChangedFile(
  { status, oldPath, newPath, added, removed }: ChangedFile,
  { origin, at, oid }: { origin: string; at: { owner: string; name: string }; oid: string },
): z.output<typeof changedFile> {
  const filename = (status === 'deleted' ? oldPath : newPath).toString('utf8');
  const inPath = filename.split('/').map(encodeURIComponent).join('/');
  const page = `${origin}${repositoryUrl(at)}`;
  const contents = `${origin}/api/v1/repos/${at.owner}/${at.name}/raw?ref=${oid}&path=${encodeURIComponent(filename)}`;
  return {
    filename,
    previous_filename: status === 'renamed' || status === 'copied' ? oldPath.toString('utf8') : '',
    status: statuses[status],
    additions: added ?? 0,
    deletions: removed ?? 0,
    changes: (added ?? 0) + (removed ?? 0),
    html_url: status === 'deleted' ? '' : `${page}/blob/${oid}/${inPath}`,
    contents_url: status === 'deleted' ? '' : contents,
    raw_url: status === 'deleted' ? '' : `${page}/raw/${oid}/${inPath}`,
  };
}
