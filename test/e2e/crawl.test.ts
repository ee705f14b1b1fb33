// time limit: 300 s
// Follows the links of a repository that holds everything odd, as a visitor and signed in: nothing is dead,
// nothing breaks, every page is valid HTML. To look longer:
//   CRAWL_PAGES=20000      follows more links
//   CRAWL_SEED=8           takes them in another order
//   CRAWL_SECONDS=600     but not for longer
//   CRAWL_AS=visitor       only signed out; `alice`: only signed in
//   CRAWL_AXE=5            looks at so many pages of each kind in a browser: both themes, 360 and 1280 px wide
//   CRAWL_REPOSITORY=dir   crawls the branches and tags of that repository instead
import t from 'tap';
import { launchBrowser } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { makeEdgeCaseRepository } from '../fixtures/edge-case-repository.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import type { PageResponse, Visitor, Web } from '../fixtures/web-fixture.ts';

const { CRAWL_PAGES, CRAWL_SEED = '7', CRAWL_AS, CRAWL_AXE = '0', CRAWL_REPOSITORY, CRAWL_SECONDS } = process.env;
const most = Number(CRAWL_PAGES ?? 1_500);
const atOnce = 6;
/** Limit of printed errors: an error in a template is on many pages. */
const shown = CRAWL_PAGES === undefined ? 30 : 300;

t.setTimeout(CRAWL_PAGES === undefined ? 600_000 : 3_600_000);

let web: Web;
let alice: Visitor & { id: string };

t.before(async () => {
  web = await startWeb(t);
  alice = await signedIn(web, 'alice');
  for (const [name, visibility] of [
    ['odd', 'PUBLIC'],
    ['hidden', 'PRIVATE'],
  ] as const) {
    await alice.post('/repos', { name, visibility });
    const viewer = {
      kind: 'person',
      id: alice.id,
      username: 'alice',
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    } as const;
    const { path } = await web.modules.repositories.find(viewer, 'alice', name);
    if (CRAWL_REPOSITORY === undefined) await makeEdgeCaseRepository(path);
    else if (CRAWL_AS !== (name === 'odd' ? 'alice' : 'visitor')) await pushInto(name, CRAWL_REPOSITORY);
  }
});

/** As its owner would: over HTTP, all branches and tags, the default branch first. */
async function pushInto(name: string, source: string): Promise<void> {
  const { secret } = await web.modules.accounts.addToken(alice.id, {
    name,
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const url = `http://alice:${secret}@127.0.0.1:${web.port}/git/alice/${name}.git`;
  const head = (await runGit(['symbolic-ref', 'HEAD'], { cwd: source })).toString().trim();
  await runGit(['push', '--quiet', url, head], { cwd: source });
  await runGit(['push', '--quiet', url, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'], { cwd: source });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescape = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name]!);

/** The links of a page; those inside documents of the repository are skipped. */
function linksOf(html: string): string[] {
  const ours = html.replace(/<div class="prose">.*?<\/section>/gs, '');
  return [...ours.matchAll(/<(?:a|img|link)\b[^>]*?\s(?:href|src)="([^"]*)"/g)]
    .map(([, address = '']) => unescape(address))
    .filter((address) => address.startsWith('/'));
}

/** Larger pages are repetitive, and the validator takes a second for each. */
const maxValidated = 256 * 1024;

/** What is wrong with a page: by the HTML standard, and by our own rules. */
function faultsOf(html: string): string[] {
  const faults = html.length > maxValidated ? [] : validateHtml(html).slice(0, 3);
  const tags = html.replace(/>[^<]*/g, '>').replace(/"[^"]*"/g, '""');
  if (/<[^>]*\s(?:style|on[a-z]+)=/i.test(tags)) faults.push('inline style or script');
  // A file that is edited keeps the characters that it has.
  const withoutEdited = html.replace(/<textarea\b[^>]*>[^<]*/g, '');
  if (/[\x00-\x08\x0b\x0e-\x1f\x7f]/.test(withoutEdited)) faults.push('a control character');
  // Form values and copy buttons contain the name unchanged.
  if (
    /[\u202a-\u202e\u2066-\u2069]/.test(
      withoutEdited.replace(/ (?:data-copy-text|value)="[^"]*"|<option[^>]*>[^<]*/g, ''),
    )
  )
    faults.push('a character that turns the direction of text');
  return faults;
}

interface Crawl {
  visited: number;
  faults: string[];
  /** Some pages of each kind. */
  samples: Map<string, string[]>;
}

/** `/repos/alice/odd/blob/main/a.c?plain=1` is a blob with a query: pages of a kind look alike. */
function kindOf(address: string): string {
  const { pathname, searchParams } = new URL(address, web.origin);
  const parts = pathname.split('/').slice(1);
  const place = parts[0] === 'repos' ? `repos/${parts[3] ?? ''}` : parts[0]!;
  const ending = place === 'repos/blob' ? (/\.\w+$/.exec(pathname)?.[0] ?? '') : '';
  return `${place}${ending} ${[...searchParams.keys()].sort().join(' ')}`;
}

async function crawl(who: Visitor, starts: string[], limit: number): Promise<Crawl> {
  const until = performance.now() + 1_000 * Number(CRAWL_SECONDS ?? Infinity);
  const random = seededRandom(Number(CRAWL_SEED));
  const known = new Set(starts);
  const queue = starts.map((address) => ({ address, from: 'the start' }));
  const found: Crawl = { visited: 0, faults: [], samples: new Map() };
  const next = () => queue.splice(random.bytes(4).readUInt32LE() % queue.length, 1)[0]!;
  const visit = async (): Promise<void> => {
    while (queue.length > 0 && found.visited < limit && performance.now() < until) {
      const { address, from } = next();
      found.visited += 1;
      // Each time from another address: rate limits of crawlers are not tested here.
      const response = await who.get(address, { 'X-Forwarded-For': `198.51.100.${found.visited % 250}` });
      const report = (what: string) => void found.faults.push(`${address} (from ${from}): ${what}`);
      if (response.status >= 400) report(String(response.status));
      inspect(response, report);
      if (isPage(response) && response.status === 200) takeSample(found.samples, address);
      const links = response.headers.location
        ? [response.headers.location]
        : isPage(response)
          ? linksOf(response.body)
          : [];
      for (const link of links.map((each) => each.replace(/#.*/s, ''))) {
        if (known.has(link)) continue;
        known.add(link);
        queue.push({ address: link, from: address });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, visit));
  await lookAt(who, found);
  return found;
}

function takeSample(samples: Crawl['samples'], address: string): void {
  const kind = kindOf(address);
  const taken = samples.get(kind) ?? [];
  samples.set(kind, taken);
  if (taken.length < Number(CRAWL_AXE)) taken.push(address);
}

const isPage = ({ headers }: PageResponse): boolean => headers['content-type']?.startsWith('text/html') ?? false;

function inspect(response: PageResponse, report: (what: string) => void): void {
  if (!isPage(response) || response.status >= 300) return;
  faultsOf(response.body).forEach(report);
  if (!response.headers['content-security-policy']?.includes("script-src 'self'")) report('no policy');
}

/**
 * The samples in a browser: axe with all rules, then in each look with the rules that looks can break; nothing
 * overflows.
 */
async function lookAt(who: Visitor, { samples, faults }: Crawl): Promise<void> {
  const addresses = [...samples.values()].flat();
  if (addresses.length === 0) return;
  const browser = await launchBrowser();
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.addCookies([...who.cookies].map(([name, value]) => ({ name, value, url: web.origin })));
  const page = await context.newPage();
  for (const address of addresses) {
    await page.goto(web.origin + address);
    for (const width of [360, 1280]) {
      for (const theme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: theme });
        const found = await findViolations(page, width === 360 && theme === 'light' ? allRules : presentationRules);
        faults.push(...found.slice(0, 3).map((what) => `${address}, ${theme}, ${width} px: ${what}`));
      }
      if (await page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
        faults.push(`${address}: sticks out at ${width} px`);
    }
  }
  await browser.close();
}

const summary = ({ visited, samples }: Crawl): string =>
  `${visited} pages, ${[...samples.values()].flat().length} of them in a browser`;

t.test('an anonymous client finds no dead link and no broken page', async (t) => {
  if (CRAWL_AS === 'alice') return;
  const found = await crawl(visitor(web), ['/repos/alice/odd', '/explore', '/users/alice'], most);
  t.same(found.faults.slice(0, shown), [], summary(found));
  t.ok(found.visited >= Math.min(most, 1_000) || CRAWL_SECONDS !== undefined, `${found.visited} pages`);
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('neither does a signed-in person, in a private repository', async (t) => {
  if (CRAWL_AS === 'visitor') return;
  // Forms on a branch whose name turns the direction of text.
  for (const form of [
    'edit/%E2%80%AEgpj.exe/README.md',
    'delete/%E2%80%AEgpj.exe/README.md',
    'new/%E2%80%AEgpj.exe',
    'upload/%E2%80%AEgpj.exe',
  ]) {
    const turned = await alice.get(`/repos/alice/hidden/${form}`);
    t.same([turned.status, ...faultsOf(turned.body)], [200], form);
  }
  const found = await crawl(alice, ['/repos/alice/hidden', '/'], CRAWL_AS === 'alice' ? most : Math.ceil(most / 3));
  t.same(found.faults.slice(0, shown), [], summary(found));
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});
