/** A commit of the sample repository: content of changed files, by path. */
export interface DemoCommit {
  by: 'alice' | 'bob' | 'carol';
  message: string;
  files: Readonly<Record<string, string>>;
}

const readme = (more: string): string => `# Garden

Plans when to water which bed, from what grows there and the rain of the last days.

\`\`\`
$ garden plan --days 3
Mon  tomatoes 12 l, beans 4 l
Tue  –
Wed  tomatoes 10 l
\`\`\`
${more}`;

const plan = `import { waterNeeded } from './water.ts';
import type { Bed } from './beds.ts';

export interface Day {
  name: string;
  /** Millimetres. */
  rain: number;
}

/** How many litres each bed needs on each day. */
export function plan(beds: readonly Bed[], days: readonly Day[]): Map<string, number[]> {
  return new Map(beds.map((bed) => [bed.name, days.map(({ rain }) => waterNeeded(bed, rain))]));
}
`;

const water = (rule: string): string => `import type { Bed } from './beds.ts';

/** Litres for one day: what the plants take, less what has rained. */
export function waterNeeded(bed: Bed, rain: number): number {
${rule}
}
`;

const workflow = `name: Test
on: [push, pull_request]
jobs:
  test:
    runs-on: linux
    steps:
      - uses: actions/checkout@v4
      - run: npm test
  lint:
    runs-on: linux
    steps:
      - run: npm run lint
`;

/** The history of \`main\` in \`alice/garden\`, oldest first. */
export const gardenCommits: readonly DemoCommit[] = [
  { by: 'alice', message: 'Describe what the program does', files: { 'README.md': readme('') } },
  {
    by: 'alice',
    message: 'Read beds from a file',
    files: {
      'src/beds.ts': `export interface Bed {
  name: string;
  /** Square metres. */
  area: number;
  /** Litres for each square metre and day. */
  thirst: number;
}

/** Reads \`name area thirst\`, one bed a line. */
export function readBeds(text: string): Bed[] {
  return text
    .split('\\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', area, thirst] = line.split(/\\s+/);
      return { name, area: Number(area), thirst: Number(thirst) };
    });
}
`,
      'beds.txt': '# name area thirst\ntomatoes 4 3\nbeans 2 2\nherbs 1 1\n',
    },
  },
  {
    by: 'alice',
    message: 'Plan the water of each day',
    files: { 'src/plan.ts': plan, 'src/water.ts': water('  return bed.area * bed.thirst - bed.area * rain;') },
  },
  {
    by: 'bob',
    message: 'Never ask for less than nothing after a rainy day',
    files: { 'src/water.ts': water('  return Math.max(0, bed.area * (bed.thirst - rain));') },
  },
  {
    by: 'bob',
    message: 'Test beds without rain and with too much of it',
    files: {
      'test/water.test.ts': `import { strictEqual } from 'node:assert';
import { test } from 'node:test';
import { waterNeeded } from '../src/water.ts';

const tomatoes = { name: 'tomatoes', area: 4, thirst: 3 };

test('a dry day', () => strictEqual(waterNeeded(tomatoes, 0), 12));
test('a wet day', () => strictEqual(waterNeeded(tomatoes, 8), 0));
`,
      'package.json': `${JSON.stringify({ name: 'garden', version: '1.0.0', type: 'module', scripts: { test: 'node --test', lint: 'biome check' } }, null, 2)}\n`,
    },
  },
  {
    by: 'alice',
    message: 'Explain how to install and to contribute',
    files: {
      'README.md': readme(`
## Install

Download the newest release, or run it from a clone:

\`\`\`
npm test && node src/main.ts plan
\`\`\`

- [x] Beds and their thirst
- [x] Rain of the last days
- [ ] Forecast

| Bed | Area | Litres a day |
|---|---|---|
| tomatoes | 4 m² | 12 |
| beans | 2 m² | 4 |
`),
      'CONTRIBUTING.md': '# Contributing\n\nPush to `refs/for/main`, or open a pull request from a branch.\n',
      'src/main.ts': `import { readFileSync } from 'node:fs';
import { readBeds } from './beds.ts';
import { plan } from './plan.ts';

const beds = readBeds(readFileSync('beds.txt', 'utf8'));
for (const [name, litres] of plan(beds, [{ name: 'Mon', rain: 0 }])) console.log(name, litres.join(' '));
`,
    },
  },
  {
    by: 'carol',
    message: 'Give herbs less water',
    files: { 'beds.txt': '# name area thirst\ntomatoes 4 3\nbeans 2 2\nherbs 1 0.5\n' },
  },
  { by: 'alice', message: 'Run the tests for each push', files: { '.hearth/workflows/test.yml': workflow } },
];

/** The branch of the open pull request. */
export const forecastCommits: readonly DemoCommit[] = [
  {
    by: 'bob',
    message: 'Ask for the rain of the next days',
    files: {
      'src/forecast.ts': `import type { Day } from './plan.ts';

/** The days that are to come, as the weather station states them. */
export async function forecast(station: string): Promise<Day[]> {
  const response = await fetch(\`https://\${station}/days.json\`);
  return (await response.json()) as Day[];
}
`,
    },
  },
  {
    by: 'bob',
    message: 'Plan with the forecast when there is a station',
    files: {
      'src/main.ts': `import { readFileSync } from 'node:fs';
import { readBeds } from './beds.ts';
import { forecast } from './forecast.ts';
import { plan } from './plan.ts';

const station = process.env['STATION'];
const beds = readBeds(readFileSync('beds.txt', 'utf8'));
const days = station === undefined ? [{ name: 'Mon', rain: 0 }] : await forecast(station);
for (const [name, litres] of plan(beds, days)) console.log(name, litres.join(' '));
`,
    },
  },
];
