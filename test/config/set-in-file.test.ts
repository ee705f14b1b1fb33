import t from 'tap';
import { parse } from 'smol-toml';
import { exampleFile, setInFile } from '../../src/config/index.ts';

const set = (toml: string): string => setInFile(toml, 'ci.actions_url', 'self');

t.test('a setting is written into a settings file, and everything else stays', async (t) => {
  for (const [before, after] of [
    ['', '[ci]\nactions_url = "self"\n'],
    ['base_url = "https://git.example.org"\n', 'base_url = "https://git.example.org"\n\n[ci]\nactions_url = "self"\n'],
    ['[ci]\nactions_url = "https://github.com" # mine\n[mail]\n', '[ci]\nactions_url = "self"\n[mail]\n'],
    [
      '[ci]\n#actions_url = "x"\nmax_wait = "1h"\n',
      '[ci]\n#actions_url = "x"\nactions_url = "self"\nmax_wait = "1h"\n',
    ],
    ['[ci] # runs\nmax_wait = "1h"', '[ci] # runs\nactions_url = "self"\nmax_wait = "1h"'],
    ['[mail]\nactions_url = "no"\n[ci]\n', '[mail]\nactions_url = "no"\n[ci]\nactions_url = "self"\n'],
  ] as const)
    t.equal(set(before), after);
  const example = set(exampleFile());
  t.match(parse(example), { ci: { actions_url: 'self' } });
  t.equal(example.replace('actions_url = "self"\n', ''), exampleFile(), 'one line more');
  t.equal(set(example), example, 'again changes nothing');
});

t.test('a form that is not understood is refused, never broken', async (t) => {
  for (const toml of [
    'ci = { max_wait = "1h" }\n',
    'ci.actions_url = "x"\n',
    'this is no toml',
    '[ci]\n"actions_url" = "x"\n',
  ])
    t.equal(refusalOf(toml), 'invalid_settings_file', toml);
});

function refusalOf(toml: string): string | null {
  try {
    set(toml);
    return null;
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}
