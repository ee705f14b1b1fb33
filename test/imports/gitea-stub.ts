// startGiteaStub(t) → a server with git http-backend and Gitea's API made from its published shapes, of the repository
// `bob/tool` and others (`addRepository`): {url, host, world, requests, fail(failure), meanwhile(pattern, work),
// addIssue, addComment, addPull, addReview, ...}. It is no Gitea: pages, `Link`, `X-Total-Count`, `since`, limits, 5xx
// and cut answers are as its API describes them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { addCommit, createBareRepository, readRefs, startHttpRemote } from '../mirrors/remote-servers.ts';
import type { HttpRemoteServer } from '../mirrors/remote-servers.ts';
import { stubGit } from './stub-git.ts';

type Json = Record<string, unknown>;

/** How requests that match a pattern fail. */
interface Failure {
  pattern: RegExp;
  /** How many of them; all when left out. */
  times?: number;
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  /** The answer ends in its middle. */
  isCut?: boolean;
  /** No answer comes. */
  hangs?: boolean;
}

/** A request that is no GET. */
interface Change {
  method: string;
  body: string;
}

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const second = 1_000;
const stubBegin = Date.UTC(2024, 0, 1);

export const user = (login: string, id = login.length): Json => ({
  id,
  login,
  full_name: `${login} there`,
  email: `${login}@example.org`,
  html_url: `http://forge.example.org/${login}`,
});

const send = (response: ServerResponse, value: unknown, now: number): void => {
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Date', new Date(now).toUTCString());
  response.end(JSON.stringify(value));
};

function sendList(
  url: URL,
  response: ServerResponse,
  rows: readonly Json[],
  { now, pageSize }: { now: number; pageSize: number },
): void {
  const page = Number(url.searchParams.get('page') ?? 1);
  const limit = Math.min(Number(url.searchParams.get('limit') ?? 30), pageSize);
  const since = Date.parse(url.searchParams.get('since') ?? '');
  const wanted = Number.isNaN(since) ? rows : rows.filter((row) => Date.parse(String(row['updated_at'])) >= since);
  if (page * limit < wanted.length) {
    const next = new URL(url);
    next.searchParams.set('page', String(page + 1));
    response.setHeader('Link', `<${next.href}>; rel="next",<${next.href}>; rel="last"`);
  }
  response.setHeader('X-Total-Count', String(wanted.length));
  send(response, wanted.slice((page - 1) * limit, page * limit), now);
}

/** A repository of a stub. */
function stubRepository(
  forge: HttpRemoteServer,
  { project, token, pageSize }: { project: string; token: string; pageSize: number },
) {
  const bare = createBareRepository(forge.folder, `${project}.git`);
  const [owner, name] = project.split('/');
  const world = {
    repository: {
      id: 1,
      name,
      full_name: project,
      owner: user(owner!),
      description: 'A tool',
      website: '',
      default_branch: 'main',
      private: true,
      archived: false,
      empty: false,
      topics: ['git'],
      has_wiki: false,
      clone_url: `${forge.url}/${project}.git`,
      html_url: `${forge.url}/${project}`,
    } as Json,
    issues: [] as Json[],
    comments: [] as Json[],
    pulls: [] as Json[],
    labels: [] as Json[],
    milestones: [] as Json[],
    reviews: new Map<number, Json[]>(),
    reviewComments: new Map<number, Json[]>(),
    reactions: new Map<string, Json[]>(),
    releases: [] as Json[],
    hooks: [] as Json[],
    protections: [] as Json[],
    /** Other lists, by their path below the repository. */
    extras: new Map<string, Json[]>(),
    /** Rights of collaborators, by login. */
    permissions: new Map<string, string>(),
    /** The clock of the forge. */
    now: stubBegin,
    token,
  };
  const ids = { comment: 100, review: 500, hook: 700 };
  const iso = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
  const tick = (): string => iso((world.now += second));

  function answer(url: URL, response: ServerResponse, { method, body }: Change = { method: 'GET', body: '' }): void {
    const below = url.pathname.slice(`/api/v1/repos/${project}`.length);
    const found = (value: unknown): void => {
      if (value === undefined) response.writeHead(404).end('{"message":"Not found"}');
      else send(response, value, world.now);
    };
    const list = (at: URL, to: ServerResponse, rows: readonly Json[]): void =>
      sendList(at, to, rows, { now: world.now, pageSize });
    const [, one] = /^\/issues\/(\d+)$/.exec(below) ?? [];
    const [, ofIssue] = /^\/issues\/(\d+)\/reactions$/.exec(below) ?? [];
    const [, ofComment] = /^\/issues\/comments\/(\d+)\/reactions$/.exec(below) ?? [];
    const [, pull] = /^\/pulls\/(\d+)$/.exec(below) ?? [];
    const [, reviewed] = /^\/pulls\/(\d+)\/reviews$/.exec(below) ?? [];
    const [, , review] = /^\/pulls\/(\d+)\/reviews\/(\d+)\/comments$/.exec(below) ?? [];
    if (below === '') return found(world.repository);
    if (below === '/issues') return list(url, response, world.issues);
    if (below === '/issues/comments') return list(url, response, world.comments);
    if (below === '/pulls') {
      // As Gitea 1.26 lists them.
      const left = { assignees: null, requested_reviewers: null, merged_by: null };
      return list(
        url,
        response,
        world.pulls.map((row) => ({ ...row, ...left })),
      );
    }
    if (below === '/labels') return list(url, response, world.labels);
    if (below === '/milestones') return list(url, response, world.milestones);
    if (below === '/releases') return list(url, response, world.releases);
    if (below === '/wiki/pages') return found(world.repository['has_wiki'] === true ? [] : undefined);
    if (below === '/hooks' && method === 'POST') {
      const hook = { ...(JSON.parse(body) as Json), id: (ids.hook += 1) };
      world.hooks.push(hook);
      response.statusCode = 201;
      return send(response, hook, world.now);
    }
    const [, hook] = /^\/hooks\/(\d+)$/.exec(below) ?? [];
    if (hook !== undefined && method === 'DELETE') {
      const at = world.hooks.findIndex(({ id }) => id === Number(hook));
      if (at >= 0) world.hooks.splice(at, 1);
      return void response.writeHead(at >= 0 ? 204 : 404).end();
    }
    if (below === '/hooks') return list(url, response, world.hooks);
    if (below === '/branch_protections') return list(url, response, world.protections);
    if (below === '/topics') return found({ topics: world.repository['topics'] });
    if (one !== undefined) return found(world.issues.find(({ number }) => number === Number(one)));
    if (ofIssue !== undefined) return found(world.reactions.get(`issue ${ofIssue}`) ?? []);
    if (ofComment !== undefined) return found(world.reactions.get(`comment ${ofComment}`) ?? []);
    if (pull !== undefined) return found(world.pulls.find(({ number }) => number === Number(pull)));
    if (reviewed !== undefined) return list(url, response, world.reviews.get(Number(reviewed)) ?? []);
    if (review !== undefined) return found(world.reviewComments.get(Number(review)) ?? []);
    const [, permitted] = /^\/collaborators\/([^/]+)\/permission$/.exec(below) ?? [];
    if (permitted !== undefined) return found({ permission: world.permissions.get(permitted) ?? 'read' });
    if (below === '/times')
      return list(
        url,
        response,
        (world.extras.get(below) ?? []).map((row) => ({ ...row, updated_at: row['created'] })),
      );
    if (world.extras.has(below)) return list(url, response, world.extras.get(below)!);
    if (/^\/(?:tag_protections|actions\/secrets|collaborators|keys)$/.test(below)) return found([]);
    return found(undefined);
  }

  const numbers = (): number => Math.max(0, ...world.issues.map(({ number }) => Number(number)));
  const issueOf = (number: number): Json => world.issues.find((each) => each['number'] === number)!;

  function addIssue(more: Json = {}): number {
    const number = numbers() + 1;
    const at = tick();
    world.issues.push({
      id: 1_000 + number,
      number,
      user: user('bob'),
      title: `Issue ${number}`,
      body: `Text of ${number}`,
      labels: [],
      milestone: null,
      assignees: null,
      state: 'open',
      is_locked: false,
      pin_order: 0,
      created_at: at,
      updated_at: at,
      closed_at: null,
      pull_request: null,
      ...more,
    });
    return number;
  }

  function addComment(number: number, body: string, more: Json = {}): number {
    const at = tick();
    const id = (ids.comment += 1);
    const isPull = issueOf(number)['pull_request'] !== null;
    const page = `${forge.url}/${project}/${isPull ? 'pulls' : 'issues'}/${number}`;
    world.comments.push({
      id,
      user: user('carol'),
      body,
      issue_url: isPull ? '' : page,
      pull_request_url: isPull ? page : '',
      created_at: at,
      updated_at: at,
      ...more,
    });
    issueOf(number)['updated_at'] = at;
    return id;
  }

  const { git, commitFile } = stubGit(bare);

  function addPull(headOid: string, more: Json = {}): number {
    const base = readRefs(bare).get('refs/heads/main')!;
    const number = addIssue({ title: 'A pull request', pull_request: { merged: false } });
    git('update-ref', `refs/pull/${number}/head`, headOid);
    git('update-ref', `refs/heads/topic-${number}`, headOid);
    const issue = issueOf(number);
    world.pulls.push({
      ...issue,
      head: { label: `topic-${number}`, ref: `topic-${number}`, sha: headOid, repo_id: 1 },
      base: { label: 'main', ref: 'main', sha: base, repo_id: 1 },
      merge_base: base,
      merged: false,
      merged_at: null,
      merged_by: null,
      merge_commit_sha: null,
      draft: false,
      allow_maintainer_edit: true,
      requested_reviewers: [],
      ...more,
    });
    return number;
  }

  function addReview(number: number, more: Json, comments: Json[] = []): number {
    const id = (ids.review += 1);
    const at = tick();
    const head = (world.pulls.find((each) => each['number'] === number)!['head'] as Json)['sha'];
    const row = {
      id,
      user: user('carol'),
      state: 'COMMENT',
      body: '',
      commit_id: head,
      dismissed: false,
      comments_count: comments.length,
      submitted_at: at,
      ...more,
    };
    world.reviews.set(number, [...(world.reviews.get(number) ?? []), row]);
    world.reviewComments.set(
      id,
      comments.map((comment, at) => ({
        id: id * 10 + at,
        user: user('carol'),
        body: '',
        resolver: null,
        pull_request_review_id: id,
        created_at: row.submitted_at,
        updated_at: row.submitted_at,
        path: 'notes.txt',
        commit_id: row.commit_id,
        original_commit_id: row.commit_id,
        diff_hunk: '@@ -1,2 +1,2 @@\n one\n-two\n+TWO',
        position: 0,
        original_position: 0,
        ...comment,
      })),
    );
    issueOf(number)['updated_at'] = at;
    return id;
  }

  return {
    bare,
    world,
    answer,
    addIssue,
    addComment,
    addPull,
    addReview,
    commitFile,
    tip: (branch = 'main'): string => readRefs(bare).get(`refs/heads/${branch}`)!,
    push: (branch: string): string => addCommit(bare, branch, 'more'),
    refs: () => readRefs(bare),
    setRef: (ref: string, oid: string): string => git('update-ref', ref, oid),
    touch: (number: number, more: Json): void => void Object.assign(issueOf(number), more, { updated_at: tick() }),
    folderOf: (folder: string): string => path.join(forge.folder, folder),
    iso,
    tick,
  };
}

export async function startGiteaStub(t: Owner, { port = 0, token = 'secret-token', pageSize = 2 } = {}) {
  const forge = await startHttpRemote(t, { port, password: `oauth2:${token}` });
  const failures: Failure[] = [];
  /** Requests that change something. */
  const changes: [method: string, path: string, body: string][] = [];
  /** What happens before a request of the API is answered, once. */
  const before: { pattern: RegExp; work: () => Promise<unknown> }[] = [];
  const requests: { path: string; authorization: string | undefined; headers: IncomingMessage['headers'] }[] = [];
  /** Attached files by their path, and who asked for them. */
  const files = new Map<string, { status?: number; headers?: Record<string, string>; body?: string | Buffer }>();
  const fileRequests: { path: string; authorization: string | undefined }[] = [];
  const add = (project: string) => stubRepository(forge, { project, token, pageSize });
  const first = add('bob/tool');
  const repositories = new Map([['bob/tool', first]]);
  const owners = {
    orgs: [] as Json[],
    users: [user('bob')],
    /** Other lists, by their path below the API: teams, their members, keys. */
    lists: new Map<string, Json[]>(),
  };

  let movedTo: string | null = null;
  forge.answer = (request, response) => {
    const url = new URL(request.url ?? '/', forge.url);
    const now =
      movedTo === null
        ? url.pathname
        : url.pathname.replace(/(?<=^(?:\/api\/v1\/repos)?\/)bob\/tool(?![\w-])/, movedTo);
    if (now !== url.pathname) {
      response.writeHead(request.method === 'GET' ? 301 : 307, { Location: `${now}${url.search}` }).end();
      return true;
    }
    const isApi = url.pathname.startsWith('/api/');
    if (!isApi) return failAsWished(url, response) || sendFile(url, request, response);
    requests.push({
      path: `${url.pathname}${url.search}`,
      authorization: request.headers.authorization,
      headers: request.headers,
    });
    if (!url.pathname.startsWith('/api/v1/')) {
      response.writeHead(404).end('Not found.\n');
      return true;
    }
    const due = before.findIndex(({ pattern }) => pattern.test(`${url.pathname}${url.search}`));
    if (due === -1) answerApi(url, request, response);
    else
      void before
        .splice(due, 1)[0]!
        .work()
        .then(
          () => answerApi(url, request, response),
          (error: unknown) => response.destroy(error as Error),
        );
    return true;
  };

  function answerApi(url: URL, request: IncomingMessage, response: ServerResponse): void {
    if (failAsWished(url, response)) return;
    const basic = `Basic ${Buffer.from(`oauth2:${first.world.token}`).toString('base64')}`;
    if (![`token ${first.world.token}`, basic].includes(request.headers.authorization ?? '')) {
      response.writeHead(401).end('{"message":"token is required"}');
      return;
    }
    const [, project] = /^\/api\/v1\/repos\/([^/]+\/[^/]+)/.exec(url.pathname) ?? [];
    const repository = project === undefined ? undefined : repositories.get(project);
    if (repository !== undefined && request.method !== 'GET') {
      void readBody(request).then((body) => {
        changes.push([request.method!, url.pathname, body]);
        repository.answer(url, response, { method: request.method!, body });
      });
      return;
    }
    if (repository !== undefined) repository.answer(url, response);
    else answerOwners(url, response);
  }

  /** Sends a file of `files`. */
  function sendFile(url: URL, request: IncomingMessage, response: ServerResponse): boolean {
    const file = files.get(url.pathname);
    if (file === undefined) return false;
    fileRequests.push({ path: url.pathname, authorization: request.headers.authorization });
    response.writeHead(file.status ?? 200, file.headers ?? {}).end(file.body ?? '');
    return true;
  }

  /** Fails a request of the API or of git as `fail` says. */
  function failAsWished(url: URL, response: ServerResponse): boolean {
    const failure = failures.find(({ pattern, times }) => times !== 0 && pattern.test(`${url.pathname}${url.search}`));
    if (failure === undefined) return false;
    if (failure.times !== undefined) failure.times -= 1;
    if (failure.hangs) return true;
    if (failure.isCut) {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
      response.write('[{"number": 1, "titl');
      setTimeout(() => response.destroy(), 20);
      return true;
    }
    response.writeHead(failure.status ?? 500, failure.headers ?? {}).end(failure.body ?? '{"message":"no"}');
    return true;
  }

  function answerOwners(url: URL, response: ServerResponse): void {
    const list = (rows: readonly Json[]): void => sendList(url, response, rows, { now: first.world.now, pageSize });
    const below = url.pathname.slice('/api/v1'.length);
    const [, kind, login, part] = /^\/(users|orgs)\/([^/]+)(\/repos)?$/.exec(below) ?? [];
    const found = owners[(kind ?? 'users') as 'users' | 'orgs'].find(
      (row) => row['login'] === login || row['username'] === login,
    );
    if (below === '/version') return send(response, { version: '1.26.0' }, first.world.now);
    if (owners.lists.has(below)) return list(owners.lists.get(below)!);
    if (below === '/admin/users') return list(owners.users);
    if (below === '/admin/orgs') return list(owners.orgs);
    if (kind === undefined || found === undefined) return void response.writeHead(404).end('{"message":"Not found"}');
    if (part === undefined) return send(response, found, first.world.now);
    const own = [...repositories].filter(([project]) => project.startsWith(`${login}/`));
    list(own.map(([, { world }]) => world.repository));
  }

  return {
    ...forge,
    ...first,
    requests,
    changes,
    files,
    fileRequests,
    owners,
    repositories,
    fail: (failure: Failure): number => failures.push(failure),
    /** Renames the first repository, to a project of equal length; the old addresses lead to the new ones. */
    rename(project: string): void {
      symlinkSync(first.bare, path.join(forge.folder, `${project}.git`));
      repositories.set(project, first);
      Object.assign(first.world.repository, { name: project.split('/')[1], full_name: project });
      movedTo = project;
    },
    /** Before the next request that matches is answered, `work` is done. */
    meanwhile: (pattern: RegExp, work: () => Promise<unknown>): number => before.push({ pattern, work }),
    heal: (): void => void failures.splice(0),
    addRepository(project: string) {
      const made = add(project);
      repositories.set(project, made);
      return made;
    },
  };
}

export type GiteaStub = Awaited<ReturnType<typeof startGiteaStub>>;
