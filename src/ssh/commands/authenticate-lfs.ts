import { invalid } from '../../kernel/index.ts';
import { tokenTtlMs } from '../../lfs/index.ts';
import type { SshDeps } from '../deps.ts';
import type { GitSession } from './session.ts';
import { send } from './write-output.ts';

export interface LfsRequest {
  program: 'authenticate' | 'transfer';
  operation: 'upload' | 'download';
  owner: string;
  name: string;
}

/**
 * `git-lfs-authenticate`: the URL of a repository's LFS objects, and a token for one operation on them (Git LFS Server
 * Discovery). Also enforces git's access rules, before any object is sent. Throws `lfs_not_over_ssh` for
 * `git-lfs-transfer`, after which clients use `git-lfs-authenticate`, and `lfs_no_web_address`.
 */
export async function authenticateLfs(
  { lfs, config }: SshDeps,
  { program, operation, owner, name }: LfsRequest,
  session: GitSession,
): Promise<number> {
  const { viewer } = session;
  const { repository, canonical } = await lfs.open(viewer, { owner, name }, operation);
  if (program === 'transfer')
    throw invalid('lfs_not_over_ssh', 'Objects of Git LFS are moved over HTTP here; git-lfs-authenticate says where.');
  if (config.baseUrl === null)
    throw invalid(
      'lfs_no_web_address',
      'This server does not know its web address, where objects of Git LFS are: its administrator sets base_url. ' +
        'Until then, set lfs.url to the address for HTTP and /info/lfs behind it.',
    );
  const token = lfs.tokens.sign({ viewer, repositoryId: repository.id, operation, object: null });
  const at = [canonical.owner, canonical.name].map(encodeURIComponent).join('/');
  const response = {
    href: `${config.baseUrl}/git/${at}.git/info/lfs`,
    header: { Authorization: `Bearer ${token}` },
    expires_in: tokenTtlMs / 1000,
  };
  await send(`${JSON.stringify(response)}\n`, session);
  return 0;
}
