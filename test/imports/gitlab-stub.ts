// startGitlabStub(t) → a server with git http-backend and GitLab's REST API, made from its published shapes, of one
// project `team/tools/app`: {url, host, bare, world, requests, addIssue, addNote, addDiscussion, addMerge, ...}. It is
// no GitLab: pages, `Link`, `X-Total`, `updated_after`, access levels and refusals are as its documents describe them.
import type { ServerResponse } from 'node:http';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { createBareRepository, readRefs, startHttpRemote } from '../mirrors/remote-servers.ts';
import { readBody } from './gitea-stub.ts';
import { stubGit } from './stub-git.ts';

type Json = Record<string, unknown>;
type Kind = 'issues' | 'merge_requests';

const second = 1_000;
export const gitlabProject = 'team/tools/app';

export const gitlabUser = (username: string): Json => ({
  id: parseInt(username, 36),
  username,
  name: `${username} there`,
  state: 'active',
  web_url: `http://forge.example.org/${username}`,
});

export async function startGitlabStub(t: Owner, { port = 0, token = 'glpat-secret', pageSize = 2 } = {}) {
  const forge = await startHttpRemote(t, { port, password: `oauth2:${token}` });
  const bare = createBareRepository(forge.folder, `${gitlabProject}.git`);
  const { git, commitFile } = stubGit(bare);
  const world = {
    project: {
      id: 42,
      path: 'app',
      path_with_namespace: gitlabProject,
      description: 'An app',
      visibility: 'private',
      default_branch: 'main',
      topics: ['git'],
      archived: false,
      empty_repo: false,
      issues_access_level: 'enabled',
      merge_requests_access_level: 'enabled',
      wiki_access_level: 'disabled',
      http_url_to_repo: `${forge.url}/${gitlabProject}.git`,
      web_url: `${forge.url}/${gitlabProject}`,
    } as Json,
    issues: [] as Json[],
    merge_requests: [] as Json[],
    /** By `issues/1` or `merge_requests/1`. */
    discussions: new Map<string, Json[]>(),
    versions: new Map<number, Json[]>(),
    approvals: new Map<number, Json>(),
    awards: new Map<string, Json[]>(),
    /** Other lists of the project, by the path behind it. */
    lists: new Map<string, Json[]>(
      ['labels', 'milestones', 'releases', 'protected_branches', 'protected_tags', 'hooks', 'variables', 'deploy_keys']
        .concat('members/all')
        .map((name) => [`/${name}`, []]),
    ),
    users: new Map<number, Json>(),
    /** Other lists, by their path below the API: groups, members, keys. */
    others: new Map<string, Json[]>(),
    now: Date.UTC(2024, 0, 1),
    token,
  };
  const requests: { path: string; authorization: string | undefined }[] = [];
  /** How requests that match a pattern are refused. */
  const refusals: { pattern: RegExp; status: number; headers: Record<string, string> }[] = [];
  /** Uploads by their path behind the project. */
  const files = new Map<string, Buffer>();
  let noteId = 1_000;
  const iso = (at: number): string => new Date(at).toISOString();
  const tick = (): string => iso((world.now += second));

  const send = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { 'Content-Type': 'application/json', Date: new Date(world.now).toUTCString() });
    response.end(JSON.stringify(value));
  };

  function list(url: URL, response: ServerResponse, rows: readonly Json[]): void {
    const page = Number(url.searchParams.get('page') ?? 1);
    const limit = Math.min(Number(url.searchParams.get('per_page') ?? 20), pageSize);
    const after = Date.parse(url.searchParams.get('updated_after') ?? '');
    const wanted = Number.isNaN(after) ? rows : rows.filter((row) => Date.parse(String(row['updated_at'])) >= after);
    if (page * limit < wanted.length) {
      const next = new URL(url);
      next.searchParams.set('page', String(page + 1));
      response.setHeader('Link', `<${next.href}>; rel="next", <${url.href}>; rel="first"`);
    }
    response.setHeader('X-Total', String(wanted.length));
    send(response, 200, wanted.slice((page - 1) * limit, page * limit));
  }

  forge.answer = (request, response) => {
    const url = new URL(request.url ?? '/', forge.url);
    if (!url.pathname.startsWith('/api/')) return false;
    const { authorization } = request.headers;
    requests.push({ path: `${url.pathname}${url.search}`, authorization });
    const refusal = refusals.find(({ pattern }) => pattern.test(`${url.pathname}${url.search}`));
    if (refusal !== undefined) {
      response.writeHead(refusal.status, refusal.headers).end('{"message":"no"}');
      return true;
    }
    if (!url.pathname.startsWith('/api/v4/')) {
      response.writeHead(404, { 'Content-Type': 'text/html' }).end('<h1>404</h1>');
      return true;
    }
    if (authorization !== `Bearer ${world.token}`) {
      send(response, authorization === undefined ? 404 : 401, { message: '401 Unauthorized' });
      return true;
    }
    const { method = 'GET' } = request;
    const [, hook] = /\/hooks(?:\/(\d+))?$/.exec(url.pathname) ?? [];
    if (method === 'POST' && url.pathname.endsWith('/hooks'))
      void readBody(request).then((body) => {
        const made = { ...(JSON.parse(body) as Json), id: (noteId += 1) };
        world.lists.get('/hooks')!.push(made);
        send(response, 201, made);
      });
    else if (method === 'DELETE' && hook !== undefined) {
      const hooks = world.lists.get('/hooks')!;
      hooks.splice(
        hooks.findIndex(({ id }) => id === Number(hook)),
        1,
      );
      response.writeHead(204).end();
    } else answer(url, response, method);
    return true;
  };

  function answer(url: URL, response: ServerResponse, method: string): void {
    const [, user] = /^\/api\/v4\/users\/(\d+)$/.exec(url.pathname) ?? [];
    const none = (): void => send(response, 404, { message: '404 Not found' });
    const found = (value: unknown): void => (value === undefined ? none() : send(response, 200, value));
    const other = world.others.get(url.pathname.slice('/api/v4'.length));
    if (other !== undefined) return list(url, response, other);
    if (user !== undefined) return found(world.users.get(Number(user)));
    const root = `/api/v4/projects/${encodeURIComponent(gitlabProject)}`;
    if (!url.pathname.startsWith(root)) return none();
    const below = url.pathname.slice(root.length);
    if (below === '') return found(world.project);
    if (below === '/archive' && method === 'POST') {
      world.project['archived'] = true;
      return send(response, 201, world.project);
    }
    const file = files.get(below);
    if (file !== undefined) return void response.writeHead(200, { 'Content-Type': 'image/png' }).end(file);
    const rows = world.lists.get(below);
    if (rows !== undefined) return list(url, response, rows);
    const [, kind, iid, part] = /^\/(issues|merge_requests)(?:\/(\d+)(?:\/(.+))?)?$/.exec(below) ?? [];
    if (kind === undefined) return none();
    if (world.project[`${kind}_access_level`] === 'disabled') return send(response, 403, { message: '403 Forbidden' });
    if (iid === undefined) return list(url, response, world[kind as Kind]);
    const row = world[kind as Kind].find((each) => each['iid'] === Number(iid));
    if (part === undefined || row === undefined) return found(row);
    if (part === 'discussions') return list(url, response, world.discussions.get(`${kind}/${iid}`) ?? []);
    if (part === 'versions') return list(url, response, world.versions.get(Number(iid)) ?? []);
    if (part === 'approvals') return found(world.approvals.get(Number(iid)) ?? { approved_by: [] });
    if (/award_emoji$/.test(part)) return list(url, response, world.awards.get(`${kind}/${iid}/${part}`) ?? []);
    return none();
  }

  const rowOf = (kind: Kind, iid: number): Json => world[kind].find((each) => each['iid'] === iid)!;

  function add(kind: Kind, more: Json): number {
    const iid = Math.max(0, ...world[kind].map((row) => Number(row['iid']))) + 1;
    const at = tick();
    world[kind].push({
      id: 9_000 + iid,
      iid,
      title: `${kind === 'issues' ? 'Issue' : 'Merge request'} ${iid}`,
      description: `Text of ${iid}`,
      state: 'opened',
      author: gitlabUser('bob'),
      labels: [],
      milestone: null,
      assignees: [],
      discussion_locked: null,
      created_at: at,
      updated_at: at,
      closed_at: null,
      ...more,
    });
    return iid;
  }

  function note(kind: Kind, iid: number, body: string, more: Json = {}): Json {
    const at = tick();
    rowOf(kind, iid)['updated_at'] = at;
    return {
      id: (noteId += 1),
      type: null,
      body,
      author: gitlabUser('carol'),
      created_at: at,
      updated_at: at,
      system: false,
      resolvable: false,
      noteable_iid: iid,
      ...more,
    };
  }

  /** A discussion of some notes; a text alone is one of carol. */
  function addDiscussion(kind: Kind, iid: number, notes: readonly (string | (Json & { body: string }))[]): number[] {
    const made = notes.map((each) => (typeof each === 'string' ? note(kind, iid, each) : note(kind, iid, '', each)));
    const key = `${kind}/${iid}`;
    const before = world.discussions.get(key) ?? [];
    const id = `d${String(noteId).padStart(39, '0')}`;
    world.discussions.set(key, [...before, { id, individual_note: notes.length === 1, notes: made }]);
    return made.map((row) => Number(row['id']));
  }

  /** A merge request whose pushes are some commits, the last one its head. */
  function addMerge(heads: readonly string[], more: Json = {}): number {
    const base = readRefs(bare).get('refs/heads/main')!;
    const head = heads.at(-1)!;
    const iid = add('merge_requests', {
      sha: head,
      source_branch: 'topic',
      target_branch: 'main',
      source_project_id: 42,
      target_project_id: 42,
      draft: false,
      merged_at: null,
      merge_user: null,
      merge_commit_sha: null,
      squash_commit_sha: null,
      reviewers: [],
      diff_refs: { base_sha: base, start_sha: base, head_sha: head },
      ...more,
    });
    git('update-ref', `refs/merge-requests/${iid}/head`, head);
    world.versions.set(
      iid,
      heads.map((oid, at) => ({ id: at, head_commit_sha: oid, base_commit_sha: base, created_at: tick() })).reverse(),
    );
    return iid;
  }

  return {
    ...forge,
    bare,
    world,
    files,
    requests,
    refusals,
    commitFile,
    addIssue: (more: Json = {}) => add('issues', more),
    addDiscussion,
    addMerge,
    addNote: (kind: Kind, iid: number, body: string, more: Json = {}): number =>
      addDiscussion(kind, iid, [{ ...more, body }])[0]!,
    tip: (branch = 'main'): string => readRefs(bare).get(`refs/heads/${branch}`)!,
    setRef: (ref: string, oid: string): string => git('update-ref', ref, oid),
    touch: (kind: Kind, iid: number, more: Json): void =>
      void Object.assign(rowOf(kind, iid), more, { updated_at: tick() }),
    tick,
  };
}
