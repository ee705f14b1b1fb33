import { LineCounter, parseDocument } from 'yaml';
import { templateLimits } from './issue-template.ts';
import type { IssueTemplate, ParsedTemplate, TemplateConfig } from './issue-template.ts';
import { readForm } from './read-form.ts';
import { isValues, readNames, readText, TemplateFault } from './yaml-fields.ts';
import type { Values } from './yaml-fields.ts';

/**
 * Parses a template file by its name: `config.yml`, a YAML form, or Markdown with or without front matter. Never
 * throws: returns errors of the file. Runs in the worker pool, because parsing YAML is not linear.
 */
export function parseTemplate(name: string, content: string): ParsedTemplate {
  try {
    if (/^config\.ya?ml$/i.test(name)) return { kind: 'config', config: readConfig(readYaml(content, 1)) };
    const template = /\.ya?ml$/i.test(name)
      ? readFormTemplate(name, readYaml(content, 1))
      : readMarkdown(name, content);
    return { kind: 'template', template };
  } catch (error) {
    if (error instanceof TemplateFault) return { kind: 'problem', message: error.message };
    if (error instanceof RangeError) return { kind: 'problem', message: 'This is nested too deeply.' };
    throw error;
  }
}

function readFormTemplate(key: string, values: Values): IssueTemplate {
  const fields = readForm(values['body']);
  return { ...readHead(key, values), about: readAbout(values), body: null, fields };
}

const frontMatter = /^\ufeff?---[ \t]*\n(?:([^]*?)\n)?---[ \t]*(?:\n|$)/;

function readMarkdown(key: string, content: string): IssueTemplate {
  const text = content.replaceAll('\r\n', '\n');
  const [whole = '', head] = frontMatter.exec(text) ?? [];
  const values = head === undefined ? {} : readYaml(head, 2);
  return {
    ...readHead(key, values),
    about: readAbout(values),
    body: text
      .slice(whole.length)
      .replace(/^\ufeff/, '')
      .trim(),
    fields: [],
  };
}

/** Gitea writes `about`, GitHub's forms `description`. */
const readAbout = (values: Values): string => readText(values, 'about') || readText(values, 'description');

function readHead(key: string, values: Values): Omit<IssueTemplate, 'about' | 'body' | 'fields'> {
  return {
    key,
    name: readText(values, 'name', 100) || titleOf(key),
    // Keeps the trailing space: the user types after it.
    title: typeof values['title'] === 'string' ? values['title'].slice(0, 255) : '',
    labels: readNames(values, 'labels', templateLimits.labels),
    assignees: readNames(values, 'assignees', templateLimits.assignees),
  };
}

/** `bug_report.md` → `Bug report`. */
function titleOf(key: string): string {
  const words = key
    .replace(/\.\w+$/, '')
    .replace(/[-_]+/g, ' ')
    .trim();
  return /^issue template$/i.test(words) || words === '' ? 'Issue' : words[0]!.toUpperCase() + words.slice(1);
}

function readConfig(values: Values): TemplateConfig {
  const given = values['contact_links'];
  const links = Array.isArray(given) ? (given as unknown[]).filter(isValues) : [];
  return {
    blankIssues: values['blank_issues_enabled'] !== false && values['blank_issues_enabled'] !== 'false',
    contactLinks: links.slice(0, templateLimits.contactLinks).flatMap((link) => {
      const url = readText(link, 'url', 2_000);
      // A URL of another scheme would run in the page.
      if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) return [];
      return [{ name: readText(link, 'name', 100) || url, about: readText(link, 'about'), url }];
    }),
  };
}

/**
 * @param firstLine line number of the text in its file, for messages. An empty document is an empty mapping.
 */
function readYaml(text: string, firstLine: number): Values {
  const lineCounter = new LineCounter();
  // Detecting repeated keys compares each with all before it; the last one counts instead.
  const document = parseDocument(text, { lineCounter, uniqueKeys: false, logLevel: 'silent', prettyErrors: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lineCounter.linePos(error.pos[0]);
    throw new TemplateFault(`Line ${line + firstLine - 1}: ${error.message.split('\n')[0]}`);
  }
  const value: unknown = toValues(() => document.toJS({ maxAliasCount: 0 }) as unknown);
  if (value === null || value === undefined) return {};
  if (!isValues(value)) throw new TemplateFault('This is no mapping of keys to values.');
  return value;
}

function toValues(convert: () => unknown): unknown {
  try {
    return convert();
  } catch (error) {
    if (error instanceof ReferenceError) throw new TemplateFault('Aliases are not supported here.');
    throw error;
  }
}
