// Patterns of branch and tag names: what they match, what is no pattern, and that matching stays linear.
import t from 'tap';
import { maxPatternLength, readRefPattern } from '../../src/access/index.ts';

const matches = (pattern: string, name: string): boolean => {
  const read = readRefPattern(pattern);
  if (typeof read === 'string') throw new Error(`${pattern}: ${read}`);
  return read.matches(name);
};

const table: [pattern: string, yes: string[], no: string[]][] = [
  ['main', ['main'], ['Main', 'main2', 'x/main', 'mai']],
  ['release/*', ['release/1.0', 'release/'], ['release', 'release/1/2', 'xrelease/1']],
  ['release/**', ['release/1.0', 'release/1/2'], ['release', 'other/1']],
  ['**', ['a', 'a/b'], []],
  ['*', ['a', ''], ['a/b']],
  ['v?.?', ['v1.2', 'vx.y'], ['v1.', 'v1.22', 'v/.1']],
  ['v[0-9]*', ['v1', 'v9.9'], ['va', 'v']],
  ['[!a-c]*', ['dx', 'zebra'], ['a', 'bc', '/d']],
  ['{main,dev}', ['main', 'dev'], ['maindev', '{main,dev}', '']],
  ['{a,b}/{1,2}', ['a/1', 'b/2'], ['a/3', 'c/1']],
  ['{release,hotfix}/*', ['release/1', 'hotfix/x'], ['release/1/2']],
  ['a+b.c$', ['a+b.c$'], ['aab.c$', 'a+bxc$']],
  ['[', ['['], ['a']],
  ['***', ['a/b'], []],
];

t.test('what a pattern matches', async (t) => {
  for (const [pattern, yes, no] of table) {
    for (const name of yes) t.ok(matches(pattern, name), `${pattern} matches ${name}`);
    for (const name of no) t.notOk(matches(pattern, name), `${pattern} does not match ${name}`);
  }
  const exact = (text: string) => {
    const read = readRefPattern(text);
    return typeof read !== 'string' && read.isExact;
  };
  t.same(['main', 'a/b', 'm*', 'm?', '[m]', '{m,n}'].map(exact), [true, true, false, false, false, false]);
});

t.test('what is no pattern', async (t) => {
  t.equal(readRefPattern(''), 'empty');
  t.equal(readRefPattern('a'.repeat(maxPatternLength + 1)), 'too_long');
  t.type(readRefPattern('*'.repeat(maxPatternLength)), 'object');
  for (const text of ['a b', 'a\nb', 'a\\b', 'a..b', 'a:b', 'a~1', 'a^', '/a', 'a/', 'a//b', 'a@{1}', 'a\ud800'])
    t.equal(readRefPattern(text), 'characters', JSON.stringify(text));
  for (const text of ['{a', 'a}', '{a,{b,c}}', '{a,b}}', '{1,2,3,4,5,6}{1,2,3,4,5,6}'])
    t.equal(readRefPattern(text), 'alternatives', text);
});

t.test('no pattern makes matching slow: steps are at most the product of both lengths', async (t) => {
  const name = `${'a'.repeat(900)}!`;
  for (const pattern of ['*a'.repeat(100), '**a'.repeat(66), `${'a*'.repeat(99)}b`, '?*'.repeat(100)]) {
    const read = readRefPattern(pattern);
    if (typeof read === 'string') throw new Error(pattern);
    let steps = 0;
    read.matches(name, (more) => (steps += more));
    t.ok(steps <= (pattern.length + 1) * (name.length + 1), `${pattern.slice(0, 8)}…: ${steps} steps`);
  }
});
