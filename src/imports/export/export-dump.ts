import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { localAdministrator } from '../../access/index.ts';
import type { Config } from '../../config/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Git } from '../../git/index.ts';
import type { ExportedFile, Issues } from '../../issues/index.ts';
import type { Clock, Random } from '../../kernel/index.ts';
import type { Pulls } from '../../pulls/index.ts';
import type { Releases } from '../../releases/index.ts';
import type { Found, Repositories } from '../../repositories/index.ts';
import { dumpComments, dumpIssue, dumpPull, dumpReviews } from './dump-items.ts';
import type { DumpContext, ExportedLog, ExportedPull } from './dump-items.ts';
import { dumpLabels, dumpMilestones, dumpRelease } from './dump-lists.ts';
import { ListFile, toYaml } from './list-file.ts';
import { wikiFile } from './wiki-file.ts';

interface DumpDeps {
  git: Git;
  issues: Pick<Issues, 'exportIssues'>;
  pulls: Pick<Pulls, 'portable'>;
  releases: Pick<Releases, 'bundles'>;
  repositories: Pick<Repositories, 'topics' | 'wikis'>;
  config: Pick<Config, 'baseUrl'>;
  clock: Clock;
  random: Random;
  /** Folder of temporary repositories, on the same file system as the real ones. */
  temporaryFolder: string;
}

interface Dump {
  refs: number;
  issues: number;
  pulls: number;
  releases: number;
  /** Pull requests that are not exported: held for review by a member, or without their commits. */
  leftOut: number;
}

/**
 * Writes a repository as the folder that `gitea restore-repo` and `forgejo restore-repo` read: `repo.yml`, the code as
 * `git`, and issues, comments, pull requests, reviews, labels, milestones, topics and releases with files as YAML.
 * Holds one issue in memory at a time. Throws `folder_not_empty`; removes an incomplete folder.
 */
export async function exportDump(deps: DumpDeps, found: Found, target: string): Promise<Dump> {
  if ((await stat(target).catch(() => null)) !== null)
    throw conflict('folder_not_empty', `${target} already exists; choose another folder.`);
  const unfinished = `${target}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o755 });
  try {
    const dump = await writeAll(deps, found, unfinished);
    await rename(unfinished, target);
    return dump;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function writeAll(deps: DumpDeps, found: Found, folder: string): Promise<Dump> {
  const { repository, canonical, path: from } = found;
  const plan = await deps.pulls.portable.plan(repository.id, from);
  const own = [...(await deps.git.refs.list(from))].filter(([ref]) => /^refs\/(?:heads|tags|notes|pull)\//.test(ref));
  const code = { path: from, refs: new Map(own), defaultBranch: repository.defaultBranch };
  await writeCode(deps, found, { ...code, target: path.join(folder, 'git') });
  const hasWiki = await writeWiki(deps, found, folder);
  const write = (name: string, value: unknown) => writeFile(path.join(folder, name), toYaml(value));
  const { baseUrl } = deps.config;
  const page = baseUrl === null ? '' : `${baseUrl.replace(/\/$/, '')}/${canonical.owner}/${canonical.name}`;
  await write('repo.yml', {
    name: canonical.name,
    owner: canonical.owner,
    description: repository.description,
    clone_addr: page === '' ? '' : `${page}.git`,
    original_url: page,
    is_private: String(repository.visibility !== 'PUBLIC'),
    service_type: giteaService,
    wiki: String(hasWiki),
    issues: 'true',
    milestones: 'true',
    labels: 'true',
    releases: 'true',
    comments: 'true',
    pulls: 'true',
    assets: 'true',
    default_branch: repository.defaultBranch,
    // Read only here.
    website: repository.website,
    is_archived: String(repository.archivedAt !== null),
  });
  await write('topic.yml', { topics: (await deps.repositories.topics.of([repository.id])).get(repository.id) ?? [] });
  const context: DumpContext = { ...canonical, labels: new Map(), people: new Map() };
  const counts = await writeLogs(deps, repository.id, folder, plan, context);
  const releases = await writeReleases(deps, repository.id, folder);
  return { refs: own.length, ...counts, releases, leftOut: plan.leftOut };
}

/** Gitea's number for itself, since the API is the same. */
const giteaService = '3';

/** git treats a bundle as a repository: the other forge clones it. */
const writeCode = (
  { git, clock, random, temporaryFolder }: DumpDeps,
  { canonical }: Found,
  code: { path: string; refs: Map<string, string>; defaultBranch: string; target: string },
): Promise<void> =>
  git.remotes.bundles.write({
    ...code,
    files: [],
    message: `Export of ${canonical.owner}/${canonical.name}`,
    at: clock.now(),
    scratch: path.join(temporaryFolder, `dump-${random.uuid()}.git`),
  });

/** Pages of the wiki. `restore-repo` looks for them relative to the URL of the code, as forges have them. */
async function writeWiki(deps: DumpDeps, found: Found, folder: string): Promise<boolean> {
  const wiki = await deps.repositories.wikis.find(localAdministrator, found.canonical.owner, found.canonical.name);
  if (wiki.tip === null) return false;
  const refs = new Map([[`refs/heads/${wiki.branch}`, wiki.tip]]);
  const target = path.join(folder, wikiFile);
  await writeCode(deps, found, { path: wiki.path, refs, defaultBranch: wiki.branch, target });
  return true;
}

async function writeList(file: string, items: readonly object[]): Promise<void> {
  const list = await ListFile.open(file);
  for (const item of items) await list.add(item);
  await list.close();
}

type Plan = Awaited<ReturnType<Pulls['portable']['plan']>>;

async function writeLogs(
  deps: DumpDeps,
  repositoryId: string,
  folder: string,
  plan: Plan,
  context: DumpContext,
): Promise<Pick<Dump, 'issues' | 'pulls'>> {
  for (const name of ['comments', 'reviews', 'patches']) await mkdir(path.join(folder, name));
  const issues = await ListFile.open(path.join(folder, 'issue.yml'));
  const pulls = await ListFile.open(path.join(folder, 'pull_request.yml'));
  const codes = readCodes(deps, repositoryId, plan);
  const write = (name: string, value: unknown) => writeFile(path.join(folder, name), toYaml(value));
  let open: ExportedLog | null = null;
  const finish = async (): Promise<void> => {
    if (open === null) return;
    const log = open;
    open = null;
    const comments = dumpComments(log, context);
    if (comments.length > 0) await writeList(path.join(folder, `comments/${log.number}.yml`), comments);
    if (log.kind === 'issue') return issues.add(dumpIssue(log, context));
    const code = await codes.of(log.number);
    if (code === null) return;
    const patch = `patches/${log.number}.patch`;
    await writeFile(path.join(folder, patch), '');
    await pulls.add(dumpPull(log, code, patch, context));
    const reviews = dumpReviews(log, code, context);
    if (reviews.length > 0) await writeList(path.join(folder, `reviews/${log.number}.yml`), reviews);
  };
  for await (const file of deps.issues.exportIssues(repositoryId, { pulls: plan.numbers })) {
    const [, part] = /^(?:issues|pulls)\/\d+(-\d+)?\.json$/.exec(file.name) ?? [];
    const isLog = /^(?:issues|pulls)\/\d+(?:-\d+)?\.json$/.test(file.name);
    if (file.name === 'labels.json') {
      const labels = dumpLabels(await readJson(file));
      for (const label of labels) context.labels.set(label.name, label);
      await write('label.yml', labels);
    } else if (file.name === 'milestones.json') await write('milestone.yml', dumpMilestones(await readJson(file)));
    else if (isLog && part === undefined) {
      await finish();
      open = (await readJson(file)) as ExportedLog;
    } else if (isLog && open !== null) open.entries.push(...((await readJson(file)) as ExportedLog).entries);
    else await skip(file);
  }
  await finish();
  await Promise.all([issues.close(), pulls.close()]);
  return { issues: issues.count, pulls: pulls.count };
}

/** The code of pull requests is ordered by number, like their logs. */
function readCodes({ pulls }: DumpDeps, repositoryId: string, plan: Plan) {
  const files = pulls.portable.files(repositoryId, plan)[Symbol.asyncIterator]();
  let ahead: ExportedPull | null = null;
  let isOver = false;
  const next = async (): Promise<ExportedPull | null> => {
    for (;;) {
      const { value, done } = await files.next();
      if (done === true) {
        isOver = true;
        return null;
      }
      return (await readJson(value as ExportedFile)) as ExportedPull;
    }
  };
  return {
    async of(number: number): Promise<ExportedPull | null> {
      let found: ExportedPull | null = null;
      for (;;) {
        if (ahead === null && !isOver) ahead = await next();
        if (ahead === null || ahead.number > number) return found;
        // A further part contains only threads.
        if (ahead.number === number && found === null) found = ahead;
        else if (ahead.number === number) found!.threads.push(...ahead.threads);
        ahead = null;
      }
    },
  };
}

async function writeReleases({ releases }: DumpDeps, repositoryId: string, folder: string): Promise<number> {
  const list = await ListFile.open(path.join(folder, 'release.yml'));
  await mkdir(path.join(folder, 'release_assets'));
  for await (const { name, content } of releases.bundles.export(repositoryId)) {
    const sha256 = /^releases\/([0-9a-f]{64})$/.exec(name)?.[1];
    if (sha256 !== undefined) await pipeline(content, createWriteStream(path.join(folder, 'release_assets', sha256)));
    else
      for (const release of (await readJson({ content })).releases as Parameters<typeof dumpRelease>[0][])
        await list.add(dumpRelease(release));
  }
  await list.close();
  return list.count;
}

type Content = { content: AsyncIterable<Uint8Array> | Iterable<Uint8Array> };

async function readJson({ content }: Content): Promise<ReturnType<typeof JSON.parse>> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

async function skip({ content }: ExportedFile): Promise<void> {
  for await (const part of content) void part;
}
