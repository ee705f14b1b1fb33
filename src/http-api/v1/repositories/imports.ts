import { z } from 'zod';
import { invalid, notFound } from '../../../kernel/index.ts';
import type { Import, ImportedAuthor, SourceKind } from '../../../imports/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { repository } from '../shapes/schemas.ts';
import { isoTimeOrNull } from '../shapes/payloads.ts';
import { showRepository } from '../shapes/show-repositories.ts';

const at = '/repos/{owner}/{name}/import';

/** As sent by Gitea's clients. */
const migration = z
  .object({
    clone_addr: z.string().describe('URL of the source repository'),
    service: z
      .string()
      .max(30)
      .optional()
      .describe(
        '`git` imports only the code; `gitea`, `forgejo`, `github` and `gitlab` also import what the fields below select',
      ),
    repo_name: z.string(),
    repo_owner: z.string().optional().describe('User or organisation; defaults to the caller'),
    uid: z.int().optional().describe('Owner IDs are not accepted: use repo_owner'),
    auth_token: z.string().max(1_000).optional(),
    auth_username: z.string().max(200).optional(),
    auth_password: z.string().max(1_000).optional(),
    private: z.boolean().default(false),
    description: z.string().optional().describe('Defaults to the source’s description, except in code-only imports'),
    mirror: z.boolean().default(false).describe('Whether to keep following the source repository'),
    mirror_interval: z.string().max(30).optional().describe('Duration such as `10m` or `8h`; defaults to 8 hours'),
    issues: z.boolean().default(false),
    labels: z.boolean().default(false).describe('Has no effect: labels are imported with issues'),
    milestones: z.boolean().default(false).describe('Has no effect: milestones are imported with issues'),
    pull_requests: z.boolean().default(false),
    releases: z.boolean().default(false),
    wiki: z.boolean().default(false),
    lfs: z.boolean().default(false),
    lfs_endpoint: z.string().max(1_000).optional(),
    aws_access_key_id: z.string().max(200).optional(),
    aws_secret_access_key: z.string().max(200).optional(),
  })
  .meta({ id: 'MigrateRepoOptions' });

const kinds: Readonly<Record<string, SourceKind>> = {
  gitea: 'gitea',
  forgejo: 'gitea',
  github: 'github',
  gitlab: 'gitlab',
};

/** `1h30m` in milliseconds; 8 hours if omitted. Throws `invalid_import`. */
function readInterval(text: string | undefined): number {
  if (text === undefined || text === '') return 8 * 3_600_000;
  const [whole, hours = 0, minutes = 0, seconds = 0] =
    /^(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,6})s)?$/.exec(text.trim()) ?? [];
  if (!whole) throw invalid('invalid_import', 'This is not a duration: write 8h or 10m.', { field: 'mirror_interval' });
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000;
}

const status = z
  .object({
    address: z.string(),
    service: z.string(),
    state: z.enum(['running', 'done', 'paused', 'ended']),
    phase: z.string().describe('Current step of the run'),
    run: z.int().describe('Run number, counted from 1'),
    issues: z.int().describe('Number read in this run, including pull requests'),
    comments: z.int(),
    written: z.int().describe('Number of changed issues and pull requests'),
    unchanged: z.int(),
    requests: z.int().describe('Number of requests sent since the first run'),
    waits_until: z.string().nullable().describe('Time at which the source’s rate limit resets'),
    last_error: z.string().nullable(),
    watch_ms: z.int().nullable(),
    next_at: z.string().nullable(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'RepositoryImport' });

function show(found: Import | null): z.output<typeof status> {
  if (found === null) throw notFound('import_not_found', 'This repository does not come from another forge.');
  const { progress } = found;
  const isDue = found.state === 'running' || (found.state === 'done' && found.watchMs !== null);
  return {
    address: found.url,
    service: found.kind,
    state: found.state,
    phase: found.phase,
    run: found.run,
    issues: progress.found.issues,
    comments: progress.found.comments,
    written: progress.written,
    unchanged: progress.unchanged,
    requests: found.requests,
    waits_until: isoTimeOrNull(found.waitsUntil),
    last_error: found.lastError,
    watch_ms: found.watchMs,
    next_at: isDue ? isoTimeOrNull(found.nextAt) : null,
    started_at: isoTimeOrNull(found.startedAt),
    finished_at: isoTimeOrNull(found.finishedAt),
  };
}

const author = z
  .object({
    person: z.string().describe('Author name as `login@host`'),
    name: z.string(),
    host: z.string(),
    url: z.string(),
    claimed: z.boolean(),
  })
  .meta({ id: 'ImportedAuthor' });

const showAuthors = (found: readonly ImportedAuthor[], me: string) =>
  found.map(({ person, name, host, url, userId }) => ({ person, name, host, url, claimed: userId === me }));

const problem = z.object({ item: z.string(), problem: z.string(), run: z.int() }).meta({ id: 'ImportProblem' });

export const importOperations = [
  operation({
    id: 'listMyImportedAuthors',
    method: 'GET',
    path: '/user/imported_authors',
    tag: 'Users',
    summary: 'List imported authors whose email address the caller has verified',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    response: z.array(author),
    async run({ viewer, deps }) {
      const found = showAuthors(await deps.imports.people.claimable(viewer.id), viewer.id);
      return listed(found, null, found.length);
    },
  }),
  operation({
    id: 'claimImportedAuthors',
    method: 'POST',
    path: '/user/imported_authors',
    tag: 'Users',
    summary: 'Attribute the contributions of these authors to the caller',
    access: 'account:write',
    cost: 'objects',
    status: 200,
    refuses: [404, 409],
    refusesUnknownKeys: true,
    body: z.object({ people: z.array(z.string().max(300)).min(1).max(50) }),
    response: z.array(author),
    async run({ viewer, body, deps }) {
      const found = showAuthors(await deps.imports.people.claimOwn(viewer, body.people), viewer.id);
      return listed(found, null, found.length);
    },
  }),
  operation({
    id: 'repoMigrate',
    method: 'POST',
    path: '/repos/migrate',
    tag: 'Mirrors',
    summary: 'Import a repository from another forge',
    description:
      'The repository exists immediately, private and empty; `getImport` returns the progress. It gets the requested visibility once the import is complete.',
    access: 'account:write',
    cost: 'objects',
    status: 201,
    refuses: [409],
    refusesUnknownKeys: /vis|priv|publ|intern|token|pass/i,
    body: migration,
    response: repository,
    async run({ viewer, body, deps, origin }) {
      const visibility = body.private ? 'PRIVATE' : 'PUBLIC';
      const isCode = ['', 'git', 'plain'].includes(body.service?.toLowerCase() ?? '');
      const kind = kinds[body.service?.toLowerCase() ?? ''];
      if (!isCode && kind === undefined)
        throw invalid('invalid_import', `${body.service} is not a supported import source.`, {
          field: 'service',
        });
      const place = { owner: body.repo_owner || undefined, name: body.repo_name };
      const intervalMs = body.mirror ? readInterval(body.mirror_interval) : null;
      const { id } = isCode
        ? await deps.mirrors.import(viewer, {
            ...place,
            visibility,
            description: body.description,
            address: body.clone_addr,
            username: body.auth_username ?? (body.auth_token ? 'oauth2' : undefined),
            secret: body.auth_token || body.auth_password,
            keepMirroring: body.mirror,
          })
        : await deps.imports.start(viewer, {
            ...place,
            kind,
            visibility,
            address: body.clone_addr,
            token: body.auth_token || body.auth_password || undefined,
            watchMs: intervalMs,
            withIssues: body.issues,
            withPulls: body.pull_requests,
            withReleases: body.releases,
            withLfs: body.lfs,
            withWiki: body.wiki,
          });
      const made = (await deps.repositories.locate([id])).get(id)!;
      return created(
        await showRepository(made.repository, made.owner, viewer, { origin, deps }),
        `/repos/${made.owner.handle}/${made.repository.name}`,
      );
    },
  }),
  operation({
    id: 'getImport',
    method: 'GET',
    path: at,
    tag: 'Mirrors',
    summary: 'Get the state of a repository’s import',
    access: 'repository:owner',
    cost: 'rows',
    status: 200,
    refuses: [404],
    response: status,
    run: async ({ found, deps }) => json(show(await deps.imports.find(found.repository.id))),
  }),
  operation({
    id: 'listImportProblems',
    method: 'GET',
    path: `${at}/problems`,
    tag: 'Mirrors',
    summary: 'List omitted and altered items of an import and the remaining tasks',
    access: 'repository:owner',
    cost: 'rows',
    status: 200,
    refuses: [404],
    response: z.array(problem),
    async run({ found, deps }) {
      const { id } = (await deps.imports.find(found.repository.id)) ?? {};
      if (id === undefined) throw notFound('import_not_found', 'This repository does not come from another forge.');
      const problems = await deps.imports.problems(id);
      return listed(
        problems.map(({ item, problem: text, run }) => ({ item, problem: text, run })),
        null,
        problems.length,
      );
    },
  }),
  operation({
    id: 'runImport',
    method: 'POST',
    path: `${at}/run`,
    tag: 'Mirrors',
    summary: 'Run a repository’s import again or for the last time',
    description: 'With `switch_over`, it compares everything again and then stops following the source.',
    access: 'repository:owner',
    cost: 'objects',
    status: 202,
    refuses: [404, 409],
    refusesUnknownKeys: true,
    body: z.object({
      token: z.string().max(1_000).optional().describe('New token; if omitted, the current token is kept'),
      full: z.boolean().default(false).describe('Whether to compare everything instead of only changes'),
      switch_over: z.boolean().default(false),
      archive_source: z.boolean().optional().describe('Whether the last run makes the source repository read-only'),
    }),
    response: status,
    async run({ viewer, found, body, deps }) {
      const { id } = found.repository;
      await deps.imports.again(viewer, id, {
        token: body.token,
        isFull: body.full,
        isLast: body.switch_over,
        ...(body.archive_source !== undefined && { archivesSource: body.archive_source }),
      });
      return json(show(await deps.imports.find(id)));
    },
  }),
  operation({
    id: 'endImport',
    method: 'DELETE',
    path: at,
    tag: 'Mirrors',
    summary: 'Stop following the source repository and keep imported content',
    access: 'repository:owner',
    cost: 'objects',
    status: 204,
    refuses: [404],
    async run({ viewer, found, deps }) {
      await deps.imports.end(viewer, found.repository.id);
      return noContent();
    },
  }),
];
