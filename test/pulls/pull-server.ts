// startPullServer(t) → a server with alice (owner) and bob, who may only read.
// repository(name) → the clone of alice; clone(name, who) → another. clone.commit(file, …), clone.push(…) → what git
// printed on stderr. opened(name) → the pull requests.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { clientGit } from '../git/git-fixture.ts';
import { startGitServer } from '../http-git/git-server.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

interface Pushed {
  code: number | null;
  stderr: string;
}

export interface Clone {
  folder: string;
  git(...args: string[]): Promise<string>;
  /** Commits one file; returns the id. */
  commit(file: string, text: string, message?: string): Promise<string>;
  push(...args: string[]): Promise<Pushed>;
}

interface OpenedPull {
  number: number;
  title: string;
  body: string;
  state: string;
  author: string | null;
  base: string;
  topic: string | null;
  isDraft: boolean;
  source: string;
  head: string;
  rounds: { head: string; change: string; note: string; commits: number }[];
}

export const baseUrl = 'https://git.example.org';

export async function startPullServer(t: Owner, env: Record<string, string> = {}) {
  const server = await startGitServer(t, { SERVICE_BASE_URL: baseUrl, ...env });
  const { db, issues } = server.app.modules;

  async function clone(name: string, who: 'alice' | 'bob'): Promise<Clone> {
    const folder = path.join(server.folder, `${who}-${name}-${Math.random().toString(36).slice(2, 8)}`);
    mkdirSync(folder);
    const must = async (args: readonly string[]): Promise<string> => {
      const { code, stdout, stderr } = await clientGit(args, { cwd: folder });
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
      return stdout.trim();
    };
    const url = server.url(name, undefined).replace('http://', `http://${who}:${server.tokens[who]}@`);
    await must(['init', '--quiet', '--initial-branch=main']);
    await must(['remote', 'add', 'origin', url]);
    await must(['fetch', '--quiet', 'origin']);
    await clientGit(['checkout', '--quiet', '-B', 'main', 'origin/main'], { cwd: folder });
    return {
      folder,
      git: (...args) => must(args),
      async commit(file, text, message = `Change ${file}`) {
        mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
        writeFileSync(path.join(folder, file), text);
        await must(['add', '--all']);
        await must(['commit', '--quiet', '-m', message]);
        return must(['rev-parse', 'HEAD']);
      },
      push: (...args) => clientGit(['push', ...args], { cwd: folder }),
    };
  }

  /** A repository of alice with a branch `main` of one commit. */
  async function repository(name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC') {
    await server.newRepository(name, visibility);
    const alice = await clone(name, 'alice');
    await alice.commit('README', 'Hello\n', 'Begin');
    await alice.push('--quiet', 'origin', 'main');
    return alice;
  }

  /** Waits until every push is announced; those of repositories in the trash wait for their return. */
  async function announced(): Promise<void> {
    const open =
      'FROM pushes p JOIN repositories r ON r.id = p.repository_id WHERE p.announced_at IS NULL AND r.deleted_at IS NULL';
    await waitUntil(
      async () => Number((await db.read.query(`SELECT count(*) AS open ${open}`))[0].open) === 0,
      'every push is announced',
    ).catch(async (cause: unknown) => {
      const left = await db.read.query(`SELECT p.* ${open}`);
      throw new Error(`not announced: ${JSON.stringify(left)}`, { cause });
    });
  }

  async function opened(name: string): Promise<OpenedPull[]> {
    await announced();
    const rows = await db.read.query(
      `SELECT i.id, i.number, i.title, i.state, u.username, p.base_branch, p.topic, p.is_draft, p.source, p.head_oid,
         e.body FROM pulls p JOIN issues i ON i.id = p.issue_id JOIN repositories r ON r.id = i.repository_id
         JOIN issue_entries e ON e.issue_id = i.id AND e.position = 0 LEFT JOIN users u ON u.id = i.author_id
       WHERE r.name = ? ORDER BY i.number`,
      [name],
    );
    const pulls: OpenedPull[] = [];
    for (const row of rows) {
      const rounds = await db.read.query(
        'SELECT head_oid AS head, change, note, commit_count AS commits FROM pull_rounds WHERE issue_id = ? ORDER BY round',
        [row.id],
      );
      pulls.push({
        number: row.number,
        title: row.title,
        body: row.body,
        state: row.state,
        author: row.username,
        base: row.base_branch,
        topic: row.topic,
        isDraft: Boolean(row.is_draft),
        source: row.source,
        head: row.head_oid,
        rounds,
      });
    }
    return pulls;
  }

  /** The refs of pull requests that the server has. */
  async function pullRefs(name: string): Promise<Record<string, string>> {
    const { path: folder } = await server.app.modules.repositories.find(
      {
        kind: 'person',
        id: 'x',
        username: null,
        isAdministrator: true,
        via: 'local',
        scope: 'admin',
        repositoryIds: null,
      },
      'alice',
      name,
    );
    const refs = await server.app.modules.git.refs.list(folder);
    return Object.fromEntries([...refs].filter(([ref]) => ref.startsWith('refs/pull/')));
  }

  return { ...server, db, issues, clone, repository, announced, opened, pullRefs };
}

/** The lines that the server said, without `remote:`. */
export const remoteLines = ({ stderr }: Pushed): string[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trimEnd());
