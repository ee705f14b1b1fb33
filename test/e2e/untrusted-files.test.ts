// Files that once blocked the server while it parsed them: pushed, shown, and there again at the next start.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { hostileDocuments, hostileWorkflows, ordinaryWorkflow } from '../fixtures/hostile-files.ts';
import { gitClient } from './git-client.ts';
import { startServerProcess } from './server-process.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.test(
  'hostile workflows and documents block neither the server nor its next start',
  { timeout: 110_000 },
  async (t) => {
    let server = await startServerProcess(t, 'executable');
    const { folder } = server;
    const client = gitClient(folder);
    await server.command('user', 'add', 'alice', '--random-password');
    const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
    await server.command('repo', 'create', 'alice/site', '--public');

    const work = path.join(folder, 'work');
    const write = (file: string, text: string) => {
      mkdirSync(path.dirname(path.join(work, file)), { recursive: true });
      writeFileSync(path.join(work, file), text);
    };
    const workflows = Object.entries(hostileWorkflows);
    for (const [at, [, { text }]] of workflows.entries()) write(`.hearth/workflows/h${at + 10}.yml`, text);
    write('.hearth/workflows/zz.yml', ordinaryWorkflow);
    const documents = Object.entries(hostileDocuments);
    for (const [at, [, text]] of documents.entries()) write(`d${at}/README.md`, text);
    write('README.md', '# Site\n\n[more](d0)\n');
    await client.expect(work, 'init', '-q', '-b', 'main');
    await client.expect(work, 'add', '--all');
    await client.expect(work, 'commit', '-q', '-m', 'Everything at once');

    const get = async (address: string) => {
      const response = await fetch(server.url + address);
      return { status: response.status, text: await response.text() };
    };
    /** Measures response times of the server during some work, one request after the other. */
    const withOtherClients = async <T>(what: Promise<T>): Promise<{ result: T; responses: number }> => {
      let isOver = false;
      const ended = what.finally(() => (isOver = true));
      let responses = 0;
      while (!isOver) {
        t.equal((await get('/healthz')).status, 200);
        responses += 1;
      }
      return { result: await ended, responses };
    };

    const remote = `http://${token}@${new URL(server.url).host}/git/alice/site.git`;
    const pushed = await withOtherClients(client.expect(work, 'push', '-q', remote, 'main'));
    t.ok(pushed.responses > 1, `${pushed.responses} answers during the push`);
    const runs = async (): Promise<string> => (await get('/repos/alice/site/runs')).text;
    const waited = await withOtherClients(
      (async () => {
        await waitUntil(async () => /zz\.yml|Checks/.test(await runs()));
      })(),
    );
    t.ok(waited.responses > 0);

    for (const [at] of documents.entries()) {
      const { result, responses } = await withOtherClients(get(`/repos/alice/site/tree/main/d${at}`));
      t.equal(result.status, 200);
      t.ok(responses > 0, `${responses} answers beside document ${at}`);
    }
    const page = (await get('/repos/alice/site/runs/workflows')).text;
    t.match(page, /h10\.yml[^]*line 4, column 10: Merge keys[^]*zz\.yml/);
    t.match((await get('/repos/alice/site')).text, '<a href="/repos/alice/site/blob/main/d0">more</a>');

    await server.kill();
    server = await startServerProcess(t, 'executable', { folder });
    t.equal((await get('/healthz')).status, 200);
    const run = await get('/repos/alice/site/runs/1');
    t.match(run.text, /h10\.yml, line 4, column 10: Merge keys/);
    t.equal(await server.stop(), 0, 'and it ends when it is asked to');
  },
);
