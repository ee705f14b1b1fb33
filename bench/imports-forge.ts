// The forge of bench/imports: answers as Gitea's API does, with issues and comments made up as they are asked for, and
// an empty git repository. Arguments: how many issues, and how many comments. Prints its port; `/count` has the number
// of requests. A process of its own, so that its CPU time is not that of the server.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const [issues = 0, comments = 0] = process.argv.slice(2).map(Number);
const limit = 50;
let requests = 0;

const begin = Date.UTC(2024, 0, 1);
const timeOf = (minute: number): string => new Date(begin + minute * 60_000).toISOString();
const person = (at: number) => ({ id: (at % 50) + 1, login: `person${at % 50}`, full_name: '', email: '' });
const text = (at: number): string => `Paragraph ${at} of a text of usual length. `.repeat(12);
const label = { name: 'bug', color: 'ee0701', description: '', exclusive: false };

const issueOf = (at: number) => ({
  ...{
    number: at + 1,
    title: `Issue ${at}`,
    body: text(at),
    user: person(at),
    state: at % 3 === 0 ? 'closed' : 'open',
  },
  ...{ labels: at % 2 === 0 ? [label] : [], milestone: null, assignees: [], is_locked: false, pull_request: null },
  ...{ created_at: timeOf(at), updated_at: timeOf(at + 1), closed_at: at % 3 === 0 ? timeOf(at + 1) : null },
});
const commentOf = (at: number, root: string) => ({
  ...{ id: at + 1, body: text(at), user: person(at + 7), issue_url: `${root}/bob/tool/issues/${(at % issues) + 1}` },
  ...{ created_at: timeOf(issues + at), updated_at: timeOf(issues + at) },
});

const server = createServer((request, response) => {
  const root = `http://${request.headers.host}`;
  const url = new URL(request.url!, root);
  if (url.pathname === '/count') return void response.end(String(requests));
  requests += 1;
  answer(url, root, request, response);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));

function answer(url: URL, root: string, request: IncomingMessage, response: ServerResponse): void {
  const send = (value: unknown, headers: Record<string, string> = {}): void =>
    void response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
  const list = (total: number, rowOf: (at: number) => unknown): void => {
    const page = Number(url.searchParams.get('page') ?? 1);
    const first = (page - 1) * limit;
    const rows = Array.from({ length: Math.max(0, Math.min(limit, total - first)) }, (_, at) => rowOf(first + at));
    const next = new URL(url);
    next.searchParams.set('page', String(page + 1));
    send(rows, first + limit < total ? { Link: `<${next.href}>; rel="next"` } : { Link: '' });
  };
  if (url.pathname.endsWith('/info/refs')) {
    request.resume();
    const line = (value: string): string => (value.length + 4).toString(16).padStart(4, '0') + value;
    response.writeHead(200, { 'Content-Type': 'application/x-git-upload-pack-advertisement' });
    const capabilities = `${'0'.repeat(40)} capabilities^{}\0 agent=bench\n`;
    return void response.end(`${line('# service=git-upload-pack\n')}0000${line(capabilities)}0000`);
  }
  const below = /^\/api\/v1\/repos\/bob\/tool(.*)$/.exec(url.pathname)?.[1];
  if (below === '')
    return send({
      name: 'tool',
      description: '',
      private: false,
      default_branch: 'main',
      empty: true,
      has_wiki: false,
    });
  if (below === '/topics') return send({ topics: [] });
  if (below === '/labels') return list(1, () => label);
  if (below === '/issues') return list(issues, issueOf);
  if (below === '/issues/comments') return list(comments, (at) => commentOf(at, root));
  if (below !== undefined) return list(0, () => null);
  response.writeHead(404).end();
}
