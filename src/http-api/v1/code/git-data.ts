import { z } from 'zod';
import { allows } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { maxBlameBytes } from '../../../git/index.ts';
import { invalid, isDomainError, mapAll, notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { showChangedFile } from '../shapes/changed-file.ts';
import { showGiteaCommits } from '../shapes/commit-payloads.ts';
import { resolveRef } from './trees-and-archives.ts';
import { blame, comparison, gitBlob, gitTree, reference } from '../shapes/contents-schemas.ts';
import { apiOf, maxContentBytes } from '../shapes/contents-payloads.ts';
import { isoTime } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}';
const read = { method: 'GET', tag: 'Contents', access: 'repository:read', cost: 'objects', status: 200 } as const;

const absent = () => notFound('revision_not_found', 'There is no such branch, tag, commit or file.');

/** Limit of listed commits and files of a comparison. */
const mostCommits = 250;

const compareCommits = operation({
  ...read,
  id: 'compareCommits',
  path: `${at}/compare/{basehead}`,
  summary: 'Compare two branches, tags or commits: {base}...{head}',
  description: `Three dots compare with the merge base, two dots with the base itself. Lists at most the newest ${mostCommits} commits.`,
  response: comparison,
  async run({ found, params, deps, origin }) {
    const [, base, dots, head] = /^(.+?)(\.{2,3})(.+)$/s.exec(params.basehead) ?? [];
    if (base === undefined || head === undefined) throw absent();
    const [from, to] = await Promise.all([resolveRef(deps, found, base), resolveRef(deps, found, head)]);
    const common = dots === '...' ? await deps.git.queries.mergeBase(found.path, from, to) : from;
    const [{ ahead }, commits, { files }] = await Promise.all([
      deps.git.queries.distance(found.path, from, to),
      deps.git.queries.commitsBetween(found.path, from, to, { limit: mostCommits }),
      deps.git.queries.listDiff(found.path, { from: common, to }),
    ]);
    const place = { origin, at: found.canonical, oid: to };
    return json({
      total_commits: ahead,
      commits: await showGiteaCommits(deps, commits, { origin, found }),
      files: await mapAll(files, (file) => showChangedFile(file, place)),
    });
  },
});

const maxEntries = 50_000;

const getGitTree = operation({
  ...read,
  id: 'getGitTree',
  path: `${at}/git/trees/{sha}`,
  summary: 'Get the tree of a branch, tag or commit',
  description: 'Users with write access can also request trees by ID, including unreachable ones.',
  query: z.object({
    recursive: z.string().max(10).optional().describe('Any value except 0 and false also lists subfolders'),
    page: z.int().min(1).max(1_000).default(1),
    per_page: z.int().min(1).max(10_000).default(1_000),
  }),
  response: gitTree,
  async run({ found, params, query, deps, origin }) {
    const oid = await resolveTree(deps, found, params.sha);
    const isRecursive = !['', '0', 'false', undefined].includes(query.recursive);
    const { entries, truncated } = await deps.git.queries.listTree(found.path, oid, {
      limit: maxEntries,
      isRecursive,
    });
    const api = apiOf({ origin, at: found.canonical });
    const shown = entries.slice((query.page - 1) * query.per_page, query.page * query.per_page);
    return json({
      sha: oid,
      url: `${api}/git/trees/${oid}`,
      tree: await mapAll(shown, ({ path, mode, type, size, oid: sha }) => ({
        path: path.toString('utf8'),
        mode,
        type,
        size: size ?? 0,
        sha,
        url: `${api}/git/${type === 'tree' ? 'trees' : 'blobs'}/${sha}`,
      })),
      truncated: truncated || query.page * query.per_page < entries.length,
      page: query.page,
      total_count: entries.length,
    });
  },
});

/** A commit by its names and ids; for callers with write access also a tree by its id. */
async function resolveTree(deps: Pick<WebDeps, 'git'>, found: Found, name: string): Promise<string> {
  try {
    return (await deps.git.objects.commit(found.path, await resolveRef(deps, found, name))).tree;
  } catch (error) {
    const isId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(name);
    if (!isDomainError(error) || error.code !== 'not_found' || !isId || !allows(found.level, 'write')) throw error;
    return name;
  }
}

/** Limit of files of a commit that are searched for a blob. */
const maxFiles = 50_000;

const getGitBlob = operation({
  ...read,
  id: 'getGitBlob',
  path: `${at}/git/blobs/{sha}`,
  summary: 'Get a blob',
  description: 'Users without write access can get only blobs of files at `ref`, which defaults to the default branch.',
  query: z.object({ ref: z.string().optional() }),
  response: gitBlob,
  async run({ found, params, query, deps, origin }) {
    const sha = params.sha;
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) throw absent();
    if (!allows(found.level, 'write')) {
      const commit = await resolveRef(deps, found, query.ref);
      const { files } = await deps.git.queries.listFiles(found.path, commit, { limit: maxFiles });
      if (!files.some(({ oid }) => oid === sha)) throw absent();
    }
    const { content, size } = await deps.git.objects.blob(found.path, sha, { maxBytes: maxContentBytes });
    return json({
      content: content?.toString('base64') ?? null,
      encoding: content === null ? null : ('base64' as const),
      url: `${apiOf({ origin, at: found.canonical })}/git/blobs/${sha}`,
      sha,
      size,
    });
  },
});

/** Limit of refs per response. */
const maxRefs = 1_000;

async function listRefs(deps: Pick<WebDeps, 'git'>, found: Found, start: string, origin: string) {
  const refs = await deps.git.queries.cachedRefs(found.path);
  const shown = ['refs/heads/', 'refs/tags/']
    .flatMap((folder) => {
      // The longer of the folder and the requested prefix.
      const prefix = folder.startsWith(start) ? folder : start;
      const found = prefix.startsWith(folder) ? refs.page(prefix, 0, maxRefs) : [];
      return found.map(({ name, oid }) => ({ ref: prefix + name, sha: oid }));
    })
    .slice(0, maxRefs);
  const notes = await deps.git.queries.tags(
    found.path,
    shown.map(({ sha }) => sha),
  );
  const api = apiOf({ origin, at: found.canonical });
  return shown.map(({ ref, sha }, index) => {
    const type = notes[index] === null ? ('commit' as const) : ('tag' as const);
    return { ref, url: `${api}/git/${ref}`, object: { type, sha, url: `${api}/git/${type}s/${sha}` } };
  });
}

const listGitRefs = operation({
  ...read,
  id: 'listGitRefs',
  path: `${at}/git/refs`,
  summary: 'List branches and tags with the objects they point to',
  response: z.array(reference),
  run: async ({ found, deps, origin }) => json(await listRefs(deps, found, 'refs/', origin)),
});

const listMatchingRefs = operation({
  ...read,
  id: 'listMatchingRefs',
  path: `${at}/git/refs/{ref}`,
  summary: 'List branches and tags whose name starts with a prefix such as heads/feature',
  response: z.array(reference),
  async run({ found, params, deps, origin }) {
    const matching = await listRefs(deps, found, `refs/${params.ref}`, origin);
    if (matching.length === 0) throw absent();
    return json(matching);
  },
});

const getGitRef = operation({
  ...read,
  id: 'getGitRef',
  path: `${at}/git/ref/{ref}`,
  summary: 'Get a branch or tag by its full name such as heads/main, in GitHub’s format',
  response: reference,
  async run({ found, params, deps, origin }) {
    const name = `refs/${params.ref}`;
    const one = (await listRefs(deps, found, name, origin)).find(({ ref }) => ref === name);
    if (one === undefined) throw absent();
    return json(one);
  },
});

const listPrefixedRefs = operation({
  ...read,
  id: 'listPrefixedRefs',
  path: `${at}/git/matching-refs/{ref}`,
  summary: 'List branches and tags by name prefix as GitHub does, with an empty list if none match',
  response: z.array(reference),
  run: async ({ found, params, deps, origin }) => json(await listRefs(deps, found, `refs/${params.ref}`, origin)),
});

const getBlame = operation({
  ...read,
  id: 'getBlame',
  path: `${at}/blame`,
  summary: 'Get the commit that last changed each line of a file',
  description: `The ranges are paginated. Files larger than ${maxBlameBytes / 1024} KiB are rejected.`,
  refuses: [422],
  query: z.object({
    ref: z.string().optional(),
    path: z.string(),
    page: z.int().min(1).max(1_000).default(1),
    limit: z.int().min(1).max(5_000).default(1_000).describe('Ranges per page'),
  }),
  response: blame,
  async run({ found, query, deps, origin }) {
    const oid = await resolveRef(deps, found, query.ref);
    const entry = await deps.git.objects.entryAt(found.path, oid, query.path);
    if (entry.type === 'blob') {
      const { content } = await deps.git.objects.blob(found.path, entry.oid, { maxBytes: maxBlameBytes });
      if (content === null) throw invalid('blame_too_long', 'This file is too large to be told apart line by line.');
    }
    const { groups, commits } = await deps.git.queries.blame(found.path, oid, Buffer.from(query.path));
    const start = (query.page - 1) * query.limit;
    const next = start + query.limit < groups.length ? query.page + 1 : null;
    const value = {
      sha: oid,
      path: query.path,
      ranges: groups.slice(start, start + query.limit).map(({ oid, firstLine, lines, previous }) => {
        const { subject, author } = commits.get(oid)!;
        return {
          first_line: firstLine,
          last_line: firstLine + lines.length - 1,
          commit: {
            sha: oid,
            html_url: `${origin}${repositoryUrl(found.canonical)}/commit/${oid}`,
            message: subject,
            author: { name: author.name, email: author.email, date: isoTime(author.at) },
          },
          previous: previous === null ? null : { sha: previous.oid, path: previous.file.toString() },
        };
      }),
    };
    return { ...json(value), next, total: groups.length };
  },
});

export const gitDataOperations = [
  compareCommits,
  getGitTree,
  getGitBlob,
  listGitRefs,
  listMatchingRefs,
  getGitRef,
  listPrefixedRefs,
  getBlame,
];
