// time limit: 2400 s
// A server is killed while people open issues and comment over HTTP. HEARTH_KILLS says how often; a few by default.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const kills = Number(process.env['HEARTH_KILLS'] ?? 3);
// A busy machine takes half a minute to start a server.
t.setTimeout(200_000 + kills * 10_000);
const program = new URL('./issue-server.ts', import.meta.url).pathname;
const node = ['--disable-warning=ExperimentalWarning', program];

interface Server {
  child: ChildProcess;
  port: number;
  cookies: string[];
}

/** What a client was told is there. */
interface Acknowledged {
  number: number;
  position: number;
  text: string;
}

t.test(`${kills} kills lose no acknowledged entry, and every listener receives each once`, async (t) => {
  const random = seededRandom(kills);
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'data'), { recursive: true });
  const acknowledged: Acknowledged[] = [];
  let cut = 0;
  let count = 0;

  async function start(): Promise<Server> {
    const child = spawn(process.execPath, [...node, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => void child.kill('SIGKILL'));
    let output = '';
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes('\n')) break;
    }
    return { child, ...(JSON.parse(output) as Pick<Server, 'port' | 'cookies'>) };
  }

  /** Opens issues and comments on them, one after the other, until the server is gone. */
  async function write({ port, cookies }: Server, who: number): Promise<void> {
    const Cookie = cookies[who]!;
    const send = async (url: string, form: Record<string, string>): Promise<string | null> => {
      const { status, headers } = await sendRequest({ port }, url, { form, headers: { Cookie } });
      return status === 303 ? headers.location! : null;
    };
    let number = 0;
    try {
      for (;;) {
        const text = `text ${(count += 1)}`;
        if (number === 0 || count % 3 === 0) {
          const location = await send('/repos/alice/roof/issues/new', { title: text, body: text, action: 'open' });
          const [, given] = /\/issues\/(\d+)$/.exec(location ?? '') ?? [];
          // The rates of a minute were reached; another person goes on.
          if (given === undefined) return;
          number = Number(given);
          acknowledged.push({ number, position: 0, text });
        } else {
          const location = await send(`/repos/alice/roof/issues/${number}/comments`, { body: text, action: 'comment' });
          const [, position] = /#e(\d+)$/.exec(location ?? '') ?? [];
          if (position === undefined) return;
          acknowledged.push({ number, position: Number(position), text });
        }
      }
    } catch {
      cut += 1;
    }
  }

  for (let kill = 0; kill < kills; kill += 1) {
    const server = await start();
    const writers = server.cookies.map((_, who) => write(server, who));
    const before = acknowledged.length;
    await waitUntil(() => acknowledged.length !== before);
    await sleep(random.below(400));
    const gone = once(server.child, 'exit');
    server.child.kill('SIGKILL');
    await gone;
    await Promise.all(writers);
  }

  // Ten minutes later: the last attempt of an entry waits for so long.
  const writable = new DatabaseSync(path.join(folder, 'data', 'hearth.db'), { timeout: 30_000 });
  writable.exec('UPDATE issue_entries SET tried_at = tried_at - 600000 WHERE announced_at IS NULL');
  writable.close();
  const { child } = await start();
  const database = new DatabaseSync(path.join(folder, 'data', 'hearth.db'), { readOnly: true, timeout: 30_000 });
  t.teardown(() => database.close());
  const rows = <Row>(sql: string): Row[] => database.prepare(sql).all() as Row[];
  await waitUntil(() => rows('SELECT 1 FROM issue_entries WHERE announced_at IS NULL LIMIT 1').length === 0);
  const texts = new Map(
    rows<{ number: number; position: number; body: string }>(
      'SELECT i.number, e.position, e.body FROM issue_entries e JOIN issues i ON i.id = e.issue_id',
    ).map(({ number, position, body }) => [`${number} ${position}`, body]),
  );
  t.strictSame(
    acknowledged.filter(({ number, position, text }) => texts.get(`${number} ${position}`) !== text),
    [],
    'what was acknowledged is there',
  );
  const numbers = rows<{ number: number }>('SELECT number FROM issues ORDER BY number').map(({ number }) => number);
  t.strictSame(
    numbers,
    numbers.map((_, at) => at + 1),
    'numbers have no gap and no double',
  );
  t.strictSame(rows('SELECT issue_id, position FROM issue_entries WHERE announced_at IS NULL'), [], 'all is announced');
  t.strictSame(
    rows(
      `SELECT e.issue_id, e.position, l.listener, count(h.position) AS times
         FROM issue_entries e CROSS JOIN (SELECT 'first' AS listener UNION SELECT 'second') l
         LEFT JOIN heard h ON h.issue_id = e.issue_id AND h.position = e.position AND h.listener = l.listener
        GROUP BY 1, 2, 3 HAVING count(h.position) <> 1`,
    ),
    [],
    'every listener has heard each entry once',
  );
  const alice = "(SELECT id FROM users WHERE lower(username) = 'alice')";
  const byOthers = `SELECT issue_id, max(position) AS position FROM issue_entries WHERE author_id <> ${alice} GROUP BY 1`;
  t.strictSame(
    rows(
      `SELECT o.issue_id, o.position, n.last_position FROM (${byOthers}) o
         LEFT JOIN notifications n ON n.issue_id = o.issue_id AND n.user_id = ${alice}
        WHERE n.last_position IS NOT o.position`,
    ),
    [],
    'who watches is notified of the last entry of each issue',
  );
  t.strictSame(
    rows(`SELECT unread, stored FROM notification_counts WHERE user_id = ${alice}`),
    rows(`SELECT count(*) AS unread, count(*) AS stored FROM (${byOthers}) o`),
    'in one row for each',
  );
  t.strictSame(rows('SELECT id FROM notification_batches'), [], 'and nothing waits');
  t.comment(`${kills} kills, ${acknowledged.length} acknowledged entries, ${texts.size} entries, ${cut} cut short`);
  t.ok(acknowledged.length > kills, 'the clients were told something');
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
});
