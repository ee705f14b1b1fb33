import { isDomainError } from '../../kernel/index.ts';
import type { SourceClient } from '../client/source-client.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import type { ListedOwner } from './list-repositories.ts';
import { idOf, textOf } from './read-json.ts';
import { createPager } from './read-pages.ts';
import type { TellProblem } from './source.ts';
import { splitKeys } from './split-keys.ts';

/** Public keys of a user. */
interface SourceKeys {
  ssh: { id: string; title: string; line: string }[];
  /** Armored, one key each. */
  gpg: string[];
}

const mostBytes = 1024 * 1024;

/**
 * The public keys of a user, for a token of the administrator. What it may not read is a line of the report and empty.
 * Refuses as `SourceClient` does.
 */
export async function listKeys(
  client: SourceClient,
  { kind, api }: { kind: SourceKind; api: string },
  { login, id: number }: Pick<ListedOwner, 'login' | 'id'>,
  tell: TellProblem,
): Promise<SourceKeys> {
  const isGitlab = kind === 'gitlab';
  const { every, withRights } = createPager(client, { api, repo: '/version', project: 'such list', tell });
  const user = `/users/${encodeURIComponent(isGitlab ? number : login)}`;
  const pages = isGitlab ? 'per_page=100&page=1' : 'limit=50&page=1';
  const ssh = await withRights('SSH keys', () =>
    every(`${user}/keys?${pages}`, (row) => ({
      id: idOf(row['id']),
      title: textOf(row['title']),
      line: textOf(row['key']),
    })),
  );
  const listed = await withRights('GPG keys', () =>
    every(`${user}/gpg_keys?${pages}`, (row) => textOf(row['key']) || idOf(row['id'])),
  );
  if (isGitlab) return { ssh, gpg: listed.flatMap((armored) => splitKeys(armored)) };
  if (listed.length === 0) return { ssh, gpg: [] };
  // The API of Gitea has no user ids in its keys; its page of them has the keys as they were added, in one block.
  const page = `${api.replace(/\/api\/v1$/, '')}/${encodeURIComponent(login)}.gpg`;
  try {
    return { ssh, gpg: splitKeys(await readText(client, page)) };
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'source_failed') throw error;
    tell('GPG keys', `did not come: ${error.message}`);
    return { ssh, gpg: [] };
  }
}

async function readText(client: SourceClient, address: string): Promise<string> {
  const { stream } = await client.openFile([address]);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // What is beyond is no key that is taken here.
    if (bytes > mostBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('latin1');
}
