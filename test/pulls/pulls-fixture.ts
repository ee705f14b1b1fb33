// openPulls(t, {more?}) → the modules up to pull requests on real SQLite and git, with alice, bob, carol; alice/roof
// (PUBLIC)
// has the branch main with files a.txt and b.txt of ten lines; bob may write to it.
// commit(folder, {parents, files, message, author}) → a commit written into a repository.
// pushTip(modules, viewer, repository, branch, oid) → the branch is pushed to it, and the push announced.
import { execFileSync } from 'node:child_process';
import type { EntitySchema } from 'typeorm';
import type { PersonViewer } from '../../src/access/index.ts';
import { issueEntities } from '../../src/issues/index.ts';
import type { Issues } from '../../src/issues/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import { createPulls, pullEntities } from '../../src/pulls/index.ts';
import type { Pulls } from '../../src/pulls/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { packOf } from '../git/push-fixture.ts';
import { issuesOver, roof } from '../issues/issues-fixture.ts';
import { openModules, push, zeroId } from '../repositories/repositories-fixture.ts';
import type { TestModules } from '../repositories/repositories-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

export { roof, zeroId };
export const at = (number: number) => ({ ...roof, number });
export const lines = (name: string, count = 10): string =>
  Array.from({ length: count }, (_, line) => `${name} ${line + 1}\n`).join('');

export interface PullModules extends TestModules {
  issues: Issues;
  pulls: Pulls;
  /** Folder of alice/roof. */
  path: string;
  /** The first commit of main. */
  base: string;
}

export async function openPulls(
  t: Owner,
  { more = [] }: { more?: readonly EntitySchema[] } = {},
): Promise<PullModules> {
  const own = [...issueEntities, ...pullEntities] as unknown as EntitySchema[];
  const modules = await openModules(t, { more: [...own, ...more] });
  const { alice, repositories } = modules;
  await repositories.create(alice, { ...roof, visibility: 'PUBLIC' });
  await repositories.collaborators.add(alice, roof.owner, roof.name, { username: 'bob', role: 'write' });
  const issues = issuesOver(t, modules);
  const pulls = pullsOver(t, modules, issues);
  repositories.pushes.onPush(pulls.onPush);
  repositories.pushes.onPush(issues.onPush);
  const { path } = await repositories.find(alice, roof.owner, roof.name);
  const all = { ...modules, issues, pulls, path, base: '' };
  all.base = commit(path, { files: { 'a.txt': lines('a'), 'b.txt': lines('b') }, message: 'Begin' });
  await pushTip(all, alice, 'alice/roof', 'main', all.base);
  return all;
}

/** The module over others, as another process would have it. */
function pullsOver(t: Owner, modules: TestModules, issues: Issues): Pulls {
  const pulls = createPulls({ ...modules, issues, random: systemRandom, baseUrl: null, isDiskLow: async () => false });
  issues.pulls.refuseReopen(pulls.refuseDuplicate);
  t.teardown(() => pulls.stop());
  return pulls;
}

interface WrittenCommit {
  parents?: readonly string[];
  /** Besides those of the first parent; null removes one. */
  files?: Readonly<Record<string, string | null>>;
  message: string;
  author?: string;
}

let seconds = 1_700_000_000;

/** Writes a commit with plumbing commands, a minute after the one before. */
export function commit(folder: string, { parents = [], files = {}, message, author = 'alice' }: WrittenCommit): string {
  const index = `${folder}/test-index-${(seconds += 60)}`;
  const date = `${seconds} +0000`;
  const env = {
    ...clientEnvironment,
    GIT_DIR: folder,
    GIT_INDEX_FILE: index,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: `${author}@example.org`,
  };
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', args, { env, input, stdio: ['pipe', 'pipe', 'pipe'] })
      .toString()
      .trim();
  const [first] = parents;
  if (first !== undefined) git(['read-tree', first]);
  for (const [name, content] of Object.entries(files)) {
    if (content === null) git(['update-index', '--force-remove', name]);
    else {
      const blob = git(['hash-object', '-w', '--stdin'], content);
      git(['update-index', '--add', '--cacheinfo', `100644,${blob},${name}`]);
    }
  }
  const tree = git(['write-tree']);
  const oid = git(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])], message);
  execFileSync('rm', ['-f', index]);
  return oid;
}

export async function tipOf({ git }: Pick<PullModules, 'git'>, folder: string, ref: string): Promise<string | null> {
  return (await git.refs.list(folder)).get(ref) ?? null;
}

/** Pushes a branch as a client does, and waits until the push is announced. */
export async function pushTip(
  modules: PullModules,
  viewer: PersonViewer,
  repository: string,
  branch: string,
  oid: string,
): Promise<void> {
  const [owner, name] = repository.split('/') as [string, string];
  const { path } = await modules.repositories.find(viewer, owner, name);
  const old = (await tipOf(modules, path, `refs/heads/${branch}`)) ?? zeroId;
  const pack = /^0+$/.test(oid) ? Buffer.alloc(0) : packOf(path, oid);
  const { report } = await push(modules, viewer, repository, [`${old} ${oid} refs/heads/${branch}`], { pack });
  if (report[0] !== `ok refs/heads/${branch}`) throw new Error(report.join('\n'));
  await announced(modules);
}

/** Waits until every push is announced. */
export async function announced({ db }: Pick<PullModules, 'db'>): Promise<void> {
  const open = 'SELECT count(*) AS open FROM pushes WHERE announced_at IS NULL AND parked_at IS NULL';
  await waitUntil(async () => Number((await db.read.query(open))[0].open) === 0, 'every push is announced');
}
