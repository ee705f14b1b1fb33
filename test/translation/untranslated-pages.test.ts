// Follows the links of a world that has two of everything, in a language whose every word has an accent: a word
// without one is not in the catalogue, or is a name.
// runs alone: its process has languages that no other has.
import t from 'tap';
import { Parser } from 'htmlparser2';
import { enablePseudoLanguages, hasMessage } from '../../src/translation/index.ts';
import { standardWorld } from '../fixtures/standard-world.ts';
import type { World, WorldPerson } from '../fixtures/standard-world.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';

t.setTimeout(600_000);

let world: World;

t.before(async () => {
  enablePseudoLanguages();
  world = await standardWorld(t);
});

/** Pages that are looked at of each kind, and elements whose text is not for translators. */
const mostOfKind = 1;
const literal = new Set(['code', 'pre', 'textarea', 'script', 'style', 'samp', 'kbd', 'var', 'bdi', 'svg']);
/** In English on purpose: the documents, the description of the API, the audit log, settings by their names. */
const english = /^\/(?:help|api|admin\/(?:audit|settings))(?:\/|\?|$)/;
/** What people named in this world; names of products, formats and licences; units; what git and workflows call it. */
const names = new Set(
  (
    'alice bob carol dora garden shed vault guild workshop cabal planned issue pull gone card board one two text key ' +
    'token tool browser own runner shared spare label milestone team topic main build deploy worker linux release log text ' +
    'hearth git lfs http https ssh api utc yaml zip kb mb gb ci mit node python go rust java unlicense sqlite oauth ' +
    'slack discord matrix telegram ntfy gitea github gitlab cargo maven npm pypi ' +
    'passing test openid utf lf mib ms hooks ' +
    'jan feb mar apr may jun jul aug sept oct nov dec january december'
  ).split(' '),
);

/** `/repos/alice/garden/issues/7`: a kind is `/repos///issues/`. */
const kindOf = (address: string): string =>
  address
    .replace(/\?.*/, '')
    .split('/')
    .map((part, at) =>
      /\d|^\w+-\w/.test(part) || (at > 1 && at < 4 && /^\/(repos|packages)/.test(address)) ? '' : part,
    )
    .join('/');

interface ReadPage {
  texts: string[];
  links: string[];
}

/** What a page shows or says, without documents and names, and where it leads. */
function readPage(html: string): ReadPage {
  const page: ReadPage = { texts: [], links: [] };
  const open: boolean[] = [];
  const isLiteral = (): boolean => open.at(-1) ?? false;
  const parser = new Parser({
    onopentag(name, attributes) {
      const isOurs =
        attributes['translate'] !== 'no' &&
        !/\bprose\b/.test(attributes['class'] ?? '') &&
        attributes['dir'] !== 'auto';
      open.push(isLiteral() || literal.has(name) || !isOurs || (name !== 'html' && attributes['lang'] !== undefined));
      if (isLiteral()) return;
      for (const shown of ['title', 'aria-label', 'placeholder', 'alt'])
        if (attributes[shown] !== undefined) page.texts.push(attributes[shown]);
      const { href = '' } = attributes;
      if (name === 'a' && href.startsWith('/')) page.links.push(href.replace(/#.*/s, ''));
    },
    ontext: (text) => void (isLiteral() || page.texts.push(text)),
    onclosetag: () => void open.pop(),
  });
  parser.write(html);
  parser.end();
  return page;
}

/** Words of a text that are in no catalogue. */
const plainWords = (text: string): string[] =>
  (text.match(/[^\s]+/gu) ?? [])
    .filter((part) => !/[/@_:.#=*]\w|\w-\w|\d|^ago$/.test(part))
    .flatMap((part) => part.match(/\p{L}{2,}/gu) ?? [])
    .filter((word) => /^[a-z]+$/i.test(word) && !names.has(word.toLowerCase()));

async function crawl(person: WorldPerson | null, starts: string[]): Promise<{ pages: number; found: string[] }> {
  const known = new Set(starts);
  const queue = [...starts];
  const kinds = new Map<string, number>();
  const found = new Map<string, string>();
  let pages = 0;
  for (let address = queue.shift(); address !== undefined; address = queue.shift()) {
    const kind = kindOf(address);
    const seen = kinds.get(kind) ?? 0;
    if (seen >= mostOfKind || english.test(address)) continue;
    kinds.set(kind, seen + 1);
    const response = await sendRequest(world.web, address, {
      headers: {
        Accept: 'text/html',
        'Accept-Language': 'en-XA',
        ...(person && { Cookie: `hearth_session=${person.session}` }),
        'X-Forwarded-For': `198.51.100.${pages % 250}`,
      },
    });
    const { location } = response.headers;
    if (location?.startsWith('/') && !known.has(location)) queue.push(location);
    if (response.status >= 300 || !String(response.headers['content-type']).startsWith('text/html')) continue;
    pages += 1;
    const page = readPage(response.body);
    for (const text of page.texts) {
      const words = plainWords(text);
      const isAge = /^(?:\d+ \w+ ago|in \d+ \w+)$/.test(text.trim());
      const isKey = text.split(/\s+/).some((part) => /^\w+(?:\.\w+)+$/.test(part) && hasMessage(part));
      if (isKey || (words.length > 0 && !isAge)) {
        const shown = text.trim().replace(/\s+/g, ' ').slice(0, 80);
        if (!found.has(shown)) found.set(shown, kind);
      }
    }
    for (const link of page.links)
      if (!known.has(link)) {
        known.add(link);
        queue.push(link);
      }
  }
  return { pages, found: [...found].map(([text, kind]) => `${kind}: ${text}`) };
}

t.test('no page shows a word that is not in the catalogue', async (t) => {
  for (const [name, person] of [
    ['dora', world.people.dora],
    ['alice', world.people.alice],
    ['a visitor', null],
  ] as const) {
    const { pages, found } = await crawl(person, [
      '/',
      '/admin',
      '/settings',
      '/alice/garden',
      '/repos/alice/garden',
      '/login',
    ]);
    t.ok(pages > 20, `${name}: ${pages} pages`);
    t.strictSame(found, [], name);
  }
});
