// Templates of issues: Markdown, YAML forms, the chooser's settings, and files that are none of these.
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { checkAnswers, composeForm, fillForm } from '../../src/issues/index.ts';
import type { IssueTemplate } from '../../src/issues/index.ts';
import { parseTemplate } from '../../src/issues/templates/parse-template.ts';

const templateOf = (name: string, content: string): IssueTemplate => {
  const parsed = parseTemplate(name, content);
  if (parsed.kind !== 'template') throw new Error(JSON.stringify(parsed));
  return parsed.template;
};
const problemOf = (name: string, content: string): string => {
  const parsed = parseTemplate(name, content);
  return parsed.kind === 'problem' ? parsed.message : `${parsed.kind}!`;
};

const form = `
name: Bug report
description: Something does not work
title: "[Bug] "
labels: [bug, "needs triage"]
assignees: alice
body:
  - type: markdown
    attributes:
      value: Thanks for **writing**.
  - type: input
    id: version
    attributes: { label: Version, placeholder: "1.2", description: Of the program }
    validations: { required: true, is_number: true }
  - type: textarea
    id: log
    attributes: { label: Log, render: shell, value: "$ " }
  - type: dropdown
    id: browsers
    attributes: { label: Browsers, multiple: true, options: [Firefox, Chromium, 3] }
  - type: dropdown
    attributes: { label: System, options: [Linux, BSD], default: 1 }
    validations: { required: true }
  - type: checkboxes
    id: terms
    attributes:
      label: Terms
      options:
        - label: I have searched
          required: true
        - label: I can help
`;

t.test('Markdown with front matter, in the ways other forges write it', async (t) => {
  t.strictSame(
    templateOf(
      'bug_report.md',
      '---\r\nname: Bug\r\nabout: It broke\r\ntitle: "Bug: "\r\nlabels: bug, "help wanted"\r\nassignees:\r\n  - alice\r\n---\r\n\r\nWhat happened?\r\n',
    ),
    {
      key: 'bug_report.md',
      name: 'Bug',
      about: 'It broke',
      title: 'Bug: ',
      labels: ['bug', 'help wanted'],
      assignees: ['alice'],
      body: 'What happened?',
      fields: [],
    },
  );
  t.match(templateOf('bug_report.md', 'Only a text'), { name: 'Bug report', body: 'Only a text', labels: [] });
  t.match(templateOf('ISSUE_TEMPLATE.md', '---\n---\ntext'), { name: 'Issue', body: 'text' });
  t.match(templateOf('a.md', '---\nnot closed'), { body: '---\nnot closed' });
});

t.test('a YAML form has its fields, and becomes Markdown', async (t) => {
  const template = templateOf('bug.yml', form);
  t.match(template, {
    name: 'Bug report',
    about: 'Something does not work',
    body: null,
    labels: ['bug', 'needs triage'],
  });
  t.same(
    template.fields.map((field) => ('id' in field ? field.id : field.kind)),
    ['markdown', 'version', 'log', 'browsers', 'field-5', 'terms'],
  );
  t.match(template.fields[4], { preselected: 'BSD', isRequired: true });
  t.same(
    [...checkAnswers(template, { version: ['one'], browsers: ['Lynx'] })],
    [
      ['version', 'This must be a number.'],
      ['browsers', 'Please choose one of these.'],
      ['field-5', 'Please choose.'],
      ['terms', 'Please tick “I have searched”.'],
    ],
  );
  const answers = {
    version: ['1.5'],
    log: ['```\nwet\n```'],
    browsers: ['Firefox', '3'],
    'field-5': ['Linux'],
    terms: ['I have searched'],
  };
  t.same([...checkAnswers(template, answers)], []);
  t.equal(
    fillForm(template, answers),
    '### Version\n\n1.5\n\n### Log\n\n````shell\n```\nwet\n```\n````\n\n### Browsers\n\nFirefox, 3\n\n### System\n\nLinux\n\n' +
      '### Terms\n\n- [x] I have searched\n- [ ] I can help',
  );
  t.match(composeForm(template, {}), '### Version\n\n_No response_');
  t.throws(() => fillForm(template, {}), { message: 'Please fill this in.' });
});

t.test('the settings of the chooser; links of other schemes are left out', async (t) => {
  const content = `blank_issues_enabled: false
contact_links:
  - { name: Forum, url: "https://forum.example.org", about: Ask there }
  - { name: Trap, url: "javascript:alert(1)" }
  - nonsense
`;
  t.same(parseTemplate('config.yml', content), {
    kind: 'config',
    config: {
      blankIssues: false,
      contactLinks: [{ name: 'Forum', url: 'https://forum.example.org', about: 'Ask there' }],
    },
  });
  t.match(parseTemplate('config.yaml', ''), { kind: 'config', config: { blankIssues: true, contactLinks: [] } });
});

t.test('what is no template is named with the line, and never throws', async (t) => {
  const cases: [name: string, content: string, message: RegExp][] = [
    ['a.yml', 'name: [', /^Line 1: /],
    ['a.md', '---\nname: "x\n---\ntext', /^Line \d: /],
    ['a.yml', 'just a text', /no mapping/],
    ['a.yml', 'name: x', /list of fields/],
    ['a.yml', 'body: [{type: input}]', /Field 1 of `body` has no label/],
    ['a.yml', 'body: [{type: sound, attributes: {label: x}}]', /unknown type “sound”/],
    ['a.yml', 'body: [{type: markdown, attributes: {value: x}}]', /no field to fill in/],
    ['a.yml', 'body: [{type: dropdown, attributes: {label: x}}]', /has no options/],
    ['a.yml', 'body: [{type: input, id: "a b", attributes: {label: x}}]', /id with other characters/],
    ['a.yml', `body: [${'{type: input, id: a, attributes: {label: x}},'.repeat(2)}]`, /Two fields have the id/],
    ['a.yml', `body: [${'{type: input, attributes: {label: x}},'.repeat(61)}]`, /at most 60 fields/],
    ['a.yml', 'a: &x [1]\nb: *x\nbody: []', /Aliases/],
    ['a.yml', `body: ${'['.repeat(30_000)}`, /nested|Line 1/],
    ['a.yml', 'a: 1\n---\nb: 2', /Line 2|no mapping|list of fields|documents/],
  ];
  for (const [name, content, message] of cases) t.match(problemOf(name, content), message, content.slice(0, 60));
});

t.test('the templates of this project are read by it', async (t) => {
  const folder = new URL('../../.hearth/issue/', import.meta.url);
  const kinds = readdirSync(folder)
    .sort()
    .map((name) => [name, parseTemplate(name, readFileSync(new URL(name, folder), 'utf8')).kind]);
  t.strictSame(kinds, [
    ['bug.yml', 'template'],
    ['config.yml', 'config'],
    ['feature.yml', 'template'],
  ]);
});
