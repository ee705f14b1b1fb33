// startWeb(t, {config?, clock?}) → a whole web edge on real rooms, real SQLite and real git, on a free port.
// visitor(web) → a browser without JavaScript: keeps cookies, follows nothing, sends what browsers send.
// fillRepository(web, path, {files}) → commits to a bare repository.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import { openModules } from '../../src/app.ts';
import type { Modules } from '../../src/app.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { Logger } from '../../src/kernel/index.ts';
import { createWebServer } from '../../src/web/index.ts';
import type { SshFacts } from '../../src/web/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { FixedClock } from '../fixtures/fixed-clock.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export interface LoggedLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  event: string;
  fields: Record<string, unknown>;
}

export interface Web {
  origin: string;
  port: number;
  modules: Modules;
  clock: FixedClock;
  /** What the server logged so far. */
  log: LoggedLine[];
  /** What `/readyz` finds not ready. */
  unready: string[];
  stop(): Promise<void>;
}

export interface WebOptions {
  /** Settings by their environment names. */
  env?: Record<string, string>;
  ssh?: SshFacts | null;
}

function recordingLogger(log: LoggedLine[]): Logger {
  const at =
    (level: LoggedLine['level']) =>
    (event: string, fields: Record<string, unknown> = {}) =>
      void log.push({ level, event, fields });
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return logger;
}

const sshFacts: SshFacts = { port: 2222, fingerprint: 'SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG' };

export async function startWeb(t: Owner, { env = {}, ssh = sshFacts }: WebOptions = {}): Promise<Web> {
  const folder = temporaryFolder(t);
  const { config } = loadConfig({
    env: { SERVICE_DATA_DIR: path.join(folder, 'data'), SERVICE_HTTP_LISTEN: '127.0.0.1:0', ...env },
    cwd: folder,
    readFile: (file) => readFileSync(file, 'utf8'),
  });
  const log: LoggedLine[] = [];
  const logger = recordingLogger(log);
  const clock = fixedClock();
  const modules = await openModules(config, { logger, clock }, 'always');
  const web: Partial<Web> & { unready: string[] } = { modules, clock, log, unready: [] };
  const server = createWebServer({ ...modules, ssh: () => ssh, unready: async () => web.unready });
  const { port } = await server.listen();
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= server.stop({ graceMs: 100 }).then(() => modules.close()));
  t.teardown(stop);
  return Object.assign(web, { port, origin: `http://127.0.0.1:${port}`, stop }) as Web;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface AskOptions {
  method?: string;
  headers?: Record<string, string>;
  form?: Record<string, string | string[]>;
  /** A body as it is, instead of a form. */
  body?: string | Buffer;
}

export function ask(web: Pick<Web, 'port'>, target: string, options: AskOptions = {}): Promise<Answer> {
  const { form, method = form || options.body ? 'POST' : 'GET' } = options;
  const body = form
    ? new URLSearchParams(
        Object.entries(form).flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, each])),
      ).toString()
    : options.body;
  const headers = { ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded' } : {}), ...options.headers };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port: web.port, path: target, method, headers, agent: false },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export interface Visitor {
  get(target: string, headers?: Record<string, string>): Promise<Answer>;
  post(target: string, form?: Record<string, string | string[]>, headers?: Record<string, string>): Promise<Answer>;
  /** The cookies that the browser holds. */
  cookies: Map<string, string>;
}

/** Keeps cookies and follows no redirects; forms are sent as a browser on plain http sends them. */
export function visitor(web: Web): Visitor {
  const cookies = new Map<string, string>();
  const cookieHeader = (): Record<string, string> =>
    cookies.size === 0 ? {} : { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  const remember = (answer: Answer): Answer => {
    for (const line of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  return {
    cookies,
    get: async (target, headers = {}) =>
      remember(await ask(web, target, { headers: { ...cookieHeader(), ...headers } })),
    post: async (target, form = {}, headers = {}) =>
      remember(await ask(web, target, { form, headers: { Origin: web.origin, ...cookieHeader(), ...headers } })),
  };
}

export const password = 'correct horse battery';

/** Adds a person and signs them in. */
export async function signedIn(
  web: Web,
  username: string,
  more: { isAdministrator?: boolean } = {},
): Promise<Visitor & { id: string }> {
  const person = await web.modules.accounts.addPerson({ username, password, ...more });
  const browser = visitor(web);
  const { secret } = await web.modules.accounts.startSession(person.id, { address: '127.0.0.1', userAgent: 'test' });
  browser.cookies.set('hearth_session', secret);
  return { ...browser, id: person.id };
}

/** Commits files to a bare repository by pushing to it from a clone beside it. */
export async function fillRepository(
  t: Owner,
  bare: string,
  files: Record<string, string | Buffer>,
  branch = 'main',
): Promise<void> {
  const work = temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    writeFileSync(path.join(work, name), content);
  }
  const git = (...args: string[]) =>
    runGit(args, {
      cwd: work,
      env: { GIT_AUTHOR_DATE: '2025-12-30T10:00:00Z', GIT_COMMITTER_DATE: '2025-12-30T10:00:00Z' },
    });
  await git('init', '--quiet', '-b', branch);
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'Light the first fire');
  await git('push', '--quiet', bare, branch);
}
