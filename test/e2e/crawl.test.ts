// Follows the links of a repository that holds everything odd, as a visitor and signed in: nothing is dead,
// nothing breaks, every page is valid HTML. CRAWL_PAGES=20000 follows more of them.
import t from 'tap';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { makeOddRepository } from '../fixtures/odd-repository.ts';
import { invalidParts } from '../fixtures/valid-html.ts';
import { signedIn, startWeb, visitor } from '../web/web-fixture.ts';
import type { Answer, Visitor, Web } from '../web/web-fixture.ts';

t.setTimeout(600_000);

const most = Number(process.env['CRAWL_PAGES'] ?? 1_500);
const atOnce = 6;

let web: Web;
let alice: Visitor & { id: string };

t.before(async () => {
  web = await startWeb(t);
  alice = await signedIn(web, 'alice');
  for (const [name, visibility] of [['odd', 'PUBLIC'], ['hidden', 'PRIVATE']] as const) {
    await alice.post('/repos', { name, visibility });
    const viewer = { kind: 'person', id: alice.id, username: 'alice', isAdministrator: false, via: 'session', scope: 'admin', repositoryIds: null } as const;
    await makeOddRepository((await web.rooms.repositories.find(viewer, 'alice', name)).path);
  }
});

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescape = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name]!);

/** Addresses that a page leads to; what documents of the repository link to is their authors' business. */
function linksOf(html: string): string[] {
  const ours = html.replace(/<div class="prose">.*?<\/section>/gs, '');
  return [...ours.matchAll(/<(?:a|img|link)\b[^>]*?\s(?:href|src)="([^"]*)"/g)].map(([, address = '']) => unescape(address)).filter((address) => address.startsWith('/'));
}

/** Larger ones repeat themselves, and the validator takes a second for each. */
const maxValidated = 256 * 1024;

/** What is wrong with a page: by the standard, and by what we never do. */
function faultsOf(html: string): string[] {
  const faults = html.length > maxValidated ? [] : invalidParts(html).slice(0, 3);
  const tags = html.replace(/>[^<]*/g, '>').replace(/"[^"]*"/g, '""');
  if (/<[^>]*\s(?:style|on[a-z]+)=/i.test(tags)) faults.push('inline style or script');
  if (/[\x00-\x08\x0b\x0e-\x1f\x7f]/.test(html)) faults.push('a control character');
  // What a form sends and a copy button copies is the name as it is.
  if (/[\u202a-\u202e\u2066-\u2069]/.test(html.replace(/ (?:data-copy-text|value)="[^"]*"|<option[^>]*>[^<]*/g, ''))) faults.push('a character that turns the direction of text');
  return faults;
}

interface Crawl {
  visited: number;
  faults: string[];
}

async function crawl(who: Visitor, starts: string[], limit: number): Promise<Crawl> {
  const random = seededRandom(7);
  const known = new Set(starts);
  const queue = starts.map((address) => ({ address, from: 'the start' }));
  const found: Crawl = { visited: 0, faults: [] };
  const next = () => queue.splice(random.bytes(4).readUInt32LE() % queue.length, 1)[0]!;
  const visit = async (): Promise<void> => {
    while (queue.length > 0 && found.visited < limit) {
      const { address, from } = next();
      found.visited += 1;
      // Each time another address: what a crawler may have is not what is tested here.
      const answer = await who.get(address, { 'X-Forwarded-For': `198.51.100.${found.visited % 250}` });
      const complain = (what: string) => void found.faults.push(`${address} (from ${from}): ${what}`);
      if (answer.status >= 400) complain(String(answer.status));
      inspect(answer, complain);
      const links = answer.headers.location ? [answer.headers.location] : isPage(answer) ? linksOf(answer.body) : [];
      for (const link of links.map((each) => each.replace(/#.*/s, ''))) {
        if (known.has(link)) continue;
        known.add(link);
        queue.push({ address: link, from: address });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, visit));
  return found;
}

const isPage = ({ headers }: Answer): boolean => headers['content-type']?.startsWith('text/html') ?? false;

function inspect(answer: Answer, complain: (what: string) => void): void {
  if (!isPage(answer) || answer.status >= 300) return;
  faultsOf(answer.body).forEach(complain);
  if (!answer.headers['content-security-policy']?.includes("script-src 'self'")) complain('no policy');
}

t.test('a visitor finds no dead link and no broken page', async (t) => {
  const { visited, faults } = await crawl(visitor(web), ['/repos/alice/odd', '/explore', '/users/alice'], most);
  t.same(faults.slice(0, 30), [], `${visited} pages`);
  t.ok(visited >= Math.min(most, 1_000), `${visited} pages`);
  t.same(web.log.filter(({ level }) => level === 'error'), []);
});

t.test('nor does somebody who is signed in, in a repository that only they may read', async (t) => {
  const { visited, faults } = await crawl(alice, ['/repos/alice/hidden', '/'], Math.ceil(most / 3));
  t.same(faults.slice(0, 30), [], `${visited} pages`);
  t.same(web.log.filter(({ level }) => level === 'error'), []);
});
