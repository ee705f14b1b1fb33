import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { findRefusals } from './find-refusals.ts';

const load = createRequire(createRequire(import.meta.url).resolve('intl-messageformat'));
const { parse, TYPE } = load(
  '@formatjs/icu-messageformat-parser',
) as typeof import('@formatjs/icu-messageformat-parser');
type Element = ReturnType<typeof parse>[number];

/** What a message names: values with how they are written, tags, and the choices of its plurals. */
interface Names {
  values: Set<string>;
  tags: Set<string>;
  plurals: { name: string; choices: string[]; ordinal: boolean }[];
  texts: string[];
}

function namesOf(elements: readonly Element[], names: Names = empty()): Names {
  for (const element of elements) {
    if (element.type === TYPE.literal) names.texts.push(element.value);
    else if (element.type === TYPE.pound) continue;
    else if (element.type === TYPE.tag) {
      names.tags.add(element.value);
      namesOf(element.children, names);
    } else {
      names.values.add(element.value);
      if (element.type !== TYPE.plural && element.type !== TYPE.select) continue;
      if (element.type === TYPE.plural) {
        const ordinal = element.pluralType === 'ordinal';
        names.plurals.push({ name: element.value, choices: Object.keys(element.options), ordinal });
      }
      for (const { value } of Object.values(element.options)) namesOf(value, names);
    }
  }
  return names;
}

const empty = (): Names => ({ values: new Set(), tags: new Set(), plurals: [], texts: [] });

const difference = (ones: Set<string>, others: Set<string>): string[] =>
  [...ones].filter((one) => !others.has(one)).sort();

function read(message: string): Names | string {
  try {
    return namesOf(parse(message, { requiresOtherClause: true }));
  } catch (error) {
    return (error as Error).message.split('\n')[0]!;
  }
}

interface CatalogueToCheck {
  language: string;
  catalogue: unknown;
  /** The English messages. */
  source: Readonly<Record<string, string>>;
}

/** What is wrong in one catalogue: a sentence for each message, with its language and key. */
export function checkCatalogue({ language, catalogue, source }: CatalogueToCheck): string[] {
  if (typeof catalogue !== 'object' || catalogue === null || Array.isArray(catalogue))
    return [`${language}: the file must be one object of keys and messages`];
  const findings: string[] = [];
  const report = (key: string, sentence: string): void => void findings.push(`${language}: ${key}: ${sentence}`);
  for (const [key, message] of Object.entries(catalogue)) {
    if (!/^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(key)) report(key, 'a key is words in lower case, with dots between them');
    if (!Object.hasOwn(source, key)) report(key, 'no such key in English; remove it or correct its name');
    else if (typeof message !== 'string' || message.trim() === '') report(key, 'the message must be text');
    else checkMessage({ language, message, english: source[key]! }).forEach((sentence) => report(key, sentence));
  }
  return findings;
}

function checkMessage(one: { language: string; message: string; english: string }): string[] {
  const { language, message, english } = one;
  const names = read(message);
  if (typeof names === 'string') return [`the message cannot be read: ${names}`];
  const original = read(english);
  if (typeof original === 'string') return [];
  const findings: string[] = [];
  for (const name of difference(names.values, original.values))
    findings.push(`{${name}} is not a value of the English`);
  for (const name of difference(original.values, names.values)) findings.push(`the value {${name}} is missing`);
  for (const name of difference(names.tags, original.tags)) findings.push(`<${name}> is not a tag of the English`);
  for (const name of difference(original.tags, names.tags)) findings.push(`the tag <${name}> is missing`);
  for (const name of names.tags)
    if (names.values.has(name)) findings.push(`<${name}> is also the name of a value: give the tag another one`);
  for (const { name, choices, ordinal } of names.plurals) {
    const rules = new Intl.PluralRules(language, { type: ordinal ? 'ordinal' : 'cardinal' });
    const needed = rules.resolvedOptions().pluralCategories.filter((category) => isNeeded(category, language));
    const missing = needed.filter((category) => !choices.includes(category));
    if (missing.length > 0) findings.push(`the plural of {${name}} has no ${missing.join(', ')}`);
  }
  if (names.texts.some((text) => /<\/?[a-z!]|&(?:#\d+|[a-z]+);|javascript:/i.test(text)))
    findings.push('the message has HTML in it; elements come from the template, as tags');
  return findings;
}

/** French has "many" for whole millions alone, which no count of a page is written with. */
const isNeeded = (category: string, language: string): boolean =>
  !(category === 'many' && /^(fr|es|it|pt)/.test(language));

/** Files that name messages. */
const users = ['templates/**/*.pug', 'templates/assets/*.js', 'src/**/*.ts'];
/** Keys that code puts together: `t(`flash.${key}`)`. */
const familyPattern = /`([a-z0-9_]+(?:\.[a-z0-9_]+)*\.)\$\{/g;

/** Keys of refusals, which no code names: the sentence of the error is looked up by its reason and English. */
function usedByRefusals(source: Readonly<Record<string, string>>, project: string): Set<string> {
  const refusals = findRefusals(project);
  const isThrown = (key: string): boolean =>
    refusals.some(
      ({ reason, message }) =>
        reason === key.split('.')[1] && (message === source[key] || isPassedOn(message) || isPassedOn(reason)),
    );
  return new Set(
    Object.keys(source).filter((key) => key.startsWith('terms.') || (key.startsWith('errors.') && isThrown(key))),
  );
}

/** Whether the words of an error come from elsewhere: a parameter, a table, a function. */
const isPassedOn = (message: string): boolean => /^\{\w+\}$/.test(message);

/** Sentences that pages show in English in every language: `file:line: reason: sentence`. */
export function untranslatedRefusals(source: Readonly<Record<string, string>>, project: string): string[] {
  const known = new Set(
    Object.entries(source).map(([key, message]) => `${key.split('.').slice(0, 2).join('.')} ${message}`),
  );
  return findRefusals(project)
    .filter(({ reason, message }) => !isPassedOn(message) && !known.has(`errors.${reason} ${message}`))
    .map(({ reason, message, place }) => `${place}: ${reason}: ${message}`);
}

/** The arguments of a call, from its parenthesis on; null where the text ends before it does. */
function argumentsOf(text: string, start: number): string[] | null {
  const found: string[] = [];
  let [depth, quote, current] = [0, '', ''];
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at]!;
    if (quote !== '') {
      if (sign === '\\') current += text[at++];
      else if (sign === quote) quote = '';
      current += text[at];
      continue;
    }
    if (/['"`]/.test(sign)) quote = sign;
    else if (/[([{]/.test(sign) && ++depth === 1) continue;
    else if (/[)\]}]/.test(sign) && --depth === 0) return [...found, current];
    else if (sign === ',' && depth === 1) {
      found.push(current);
      current = '';
      continue;
    }
    current += sign;
  }
  return null;
}

/** The names of an object literal; null for another expression, or one with a spread. */
function namesOfLiteral(text = '{}'): string[] | null {
  if (!/^\s*\{/.test(text) || text.includes('...')) return null;
  const parts = argumentsOf(text, text.indexOf('{')) ?? [];
  return parts.flatMap((part) => /^\s*['"]?(\w+)/.exec(part)?.[1] ?? []);
}

const plainTags = new Set(['strong', 'em', 'code', 'kbd', 'q', 'bdi']);

/** Values and tags of messages that a call of `t` or `rich` does not give: readers would see the key. */
export function checkCalls(source: Readonly<Record<string, string>>, file: string, text: string): string[] {
  const findings: string[] = [];
  for (const match of text.matchAll(/(?<![\w.])(t|rich)\(/g)) {
    const [key = '', given, elements] = argumentsOf(text, match.index + match[1]!.length) ?? [];
    const [values, tags] = [namesOfLiteral(given), namesOfLiteral(elements)];
    if (values === null || tags === null) continue;
    for (const [name] of key.matchAll(/(?<=')[a-z0-9_]+(?:\.[a-z0-9_]+)+(?=')/g)) {
      const wanted = Object.hasOwn(source, name) ? read(source[name]!) : '';
      if (typeof wanted === 'string') continue;
      const isTag = (tag: string): boolean => tags.includes(tag) || (match[1] === 'rich' && plainTags.has(tag));
      for (const value of wanted.values)
        if (![...values, ...tags].includes(value)) findings.push(`${file}: ${name}: the value {${value}} is not given`);
      for (const tag of wanted.tags) if (!isTag(tag)) findings.push(`${file}: ${name}: the tag <${tag}> is not given`);
    }
  }
  return findings;
}

/** Keys that are named and do not exist, and keys that exist and nothing names. */
export function checkUse(source: Readonly<Record<string, string>>, project: string): string[] {
  const keys = Object.keys(source);
  const known = new Set(keys);
  const used = usedByRefusals(source, project);
  const families = new Set<string>();
  const findings: string[] = [];
  for (const file of globSync(users, { cwd: project }).sort()) {
    if (file.startsWith('src/translation/')) continue;
    const text = readFileSync(join(project, file), 'utf8');
    for (const [, key] of text.matchAll(/(?<![\w.])(?:t|rich|message)\(\s*'([^'\n]+)'/g)) {
      used.add(key!);
      if (!known.has(key!)) findings.push(`${file}: ${key} is not in translations/en.json`);
    }
    findings.push(...checkCalls(source, file, text));
    for (const [key] of text.matchAll(/(?<=')[a-z0-9_]+(?:\.[a-z0-9_]+)+(?=')/g)) used.add(key);
    if (/\b(?:t|rich|message|common|eventSentence|const key)\b(?:[^;`]*)`/.test(text))
      for (const [, family] of text.matchAll(familyPattern)) families.add(family!);
  }
  for (const key of keys)
    if (!used.has(key) && ![...families].some((family) => key.startsWith(family)))
      findings.push(`en: ${key}: nothing uses this message; remove it`);
  return findings;
}
