import { createHash } from 'node:crypto';
import { cleanText } from '../../accounts/index.ts';
import { issueLimits } from '../../issues/index.ts';
import { itemSchema } from '../schema/import-schema.ts';
import { labelName, milestoneTitle } from '../write/build-issue.ts';
import { fingerprintsOf } from '../context/fingerprints.ts';
import type { RunContext } from '../context/run-context.ts';

/** Writes labels and milestones, by name, that have changed at the source. Changes made only here stay. */
export async function writeLabels(context: RunContext): Promise<void> {
  const { deps, source, row, located, tell, renewAll } = context;
  const now = deps.clock.now();
  renewAll('label ');
  renewAll('milestone ');
  const labels = new Map<string, Label>();
  const milestones = new Map<string, Milestone>();
  for await (const page of source.labels())
    for (const given of page) {
      const label = { ...given, name: labelName(given.name), description: cleanText(given.description, most) };
      const key = label.name.toLowerCase();
      if (label.name !== given.name.trim().normalize('NFC'))
        tell(`label ${label.name}`, `was ${JSON.stringify(given.name.slice(0, 100))} there`);
      if (labels.has(key)) tell(`label ${label.name}`, 'two labels have this name here; the first one counts');
      else if (labels.size >= issueLimits.labelsPerScope) tell(`label ${label.name}`, 'there are too many labels');
      else labels.set(key, label);
    }
  for await (const page of source.milestones())
    for (const given of page) {
      const milestone = {
        ...given,
        title: milestoneTitle(given.title),
        description: given.description.replaceAll('\0', '').toWellFormed().slice(0, 20_000),
      };
      const key = milestone.title.toLowerCase();
      if (Math.max(given.createdAt, given.closedAt ?? 0) > now + skewMs)
        tell(`milestone ${milestone.title}`, 'has a time in the future; it became now');
      if (milestone.title !== given.title) tell(`milestone ${milestone.title}`, 'its title was cut');
      if (milestones.has(key))
        tell(`milestone ${milestone.title}`, 'two milestones have this title; the first one counts');
      else if (milestones.size >= issueLimits.milestonesPerRepository)
        tell(`milestone ${milestone.title}`, 'there are too many milestones');
      else milestones.set(key, milestone);
    }
  const prints = new Map<string, string>([
    ...[...labels].map(([key, label]) => [`label:${key}`, print(label)] as const),
    ...[...milestones].map(([key, milestone]) => [`milestone:${key}`, print(milestone)] as const),
  ]);
  const before = await fingerprintsOf(context, [...prints.keys()]);
  const isNew = (item: string): boolean => before.get(item) !== prints.get(item);
  await deps.issues.followed.writeLabels(located.repository.id, {
    labels: [...labels].flatMap(([key, label]) => (isNew(`label:${key}`) ? [label] : [])),
    milestones: [...milestones].flatMap(([key, milestone]) =>
      isNew(`milestone:${key}`) ? [notAfter(milestone, now)] : [],
    ),
  });
  await context.save({}, async ({ manager }) => {
    for (const [item, fingerprint] of prints)
      if (isNew(item)) await manager.upsert(itemSchema, { importId: row.id, item, fingerprint }, ['importId', 'item']);
  });
}

/** Clocks differ by this much. */
const skewMs = 60_000;
const most = issueLimits.descriptionCharacters;

interface Label {
  name: string;
  colour: string;
  description: string;
  isExclusive: boolean;
}
interface Milestone {
  title: string;
  description: string;
  dueOn: string | null;
  closedAt: number | null;
  createdAt: number;
}

const notAfter = (milestone: Milestone, now: number): Milestone => ({
  ...milestone,
  closedAt: milestone.closedAt === null ? null : Math.min(milestone.closedAt, now),
  createdAt: Math.min(milestone.createdAt, now),
});

const print = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');
