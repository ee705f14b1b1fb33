import type { YAMLMap } from 'yaml';
import { isSeq } from 'yaml';
import { parseCron } from './cron.ts';
import { isTimeZone } from './time-zone.ts';
import { eventNames, plainEvents } from './workflow.ts';
import type {
  DispatchInput,
  EventTrigger,
  Filter,
  InputType,
  MergeGroupTrigger,
  PullTrigger,
  PushTrigger,
  Schedule,
  Triggers,
} from './workflow.ts';
import type { YamlFile } from './yaml-nodes.ts';

const maxPatterns = 100;
const maxPatternLength = 256;
/**
 * Limit of schedules per file: the server computes the next time of each at every push; twenty allow one per hour of a
 * working day.
 */
const maxSchedules = 20;
const inputTypes: readonly InputType[] = ['string', 'boolean', 'number', 'choice', 'environment'];

/** Parses `on`: one event, a list of them, or a mapping with settings. Throws `WorkflowProblem`. */
export function parseTriggers(file: YamlFile, node: unknown): Triggers {
  const events = readEvents(file, node);
  const push = events.get('push');
  const pull = events.get('pull_request');
  const dispatch = events.get('workflow_dispatch');
  return {
    push: push === undefined ? null : parsePush(file, push),
    pull: pull === undefined ? null : parsePull(file, pull),
    mergeGroup: events.has('merge_group') ? parseMergeGroup(file, events.get('merge_group')) : null,
    dispatch: dispatch === undefined ? null : { inputs: parseInputs(file, dispatch) },
    schedule: events.has('schedule') ? parseSchedule(file, events.get('schedule')) : [],
    events: new Map(
      plainEvents.filter((name) => events.has(name)).map((name) => [name, parseEvent(file, name, events.get(name))]),
    ),
    others: [...events.keys()]
      .filter((event) => !(eventNames as readonly string[]).includes(event))
      .slice(0, maxPatterns),
  };
}

/** Events and the settings under them. */
function readEvents(file: YamlFile, node: unknown): Map<string, unknown> {
  if (file.isAbsent(node)) throw file.problem(node, 'A workflow needs "on": what starts it.');
  const found = file.resolve(node);
  if (found !== null && 'items' in found && !isSeq(found)) {
    return new Map(file.entries(node, '"on"').map(({ key, value }) => [key, value]));
  }
  return new Map(file.texts(node, '"on"').map((event) => [event, null]));
}

function parsePush(file: YamlFile, node: unknown): PushTrigger {
  if (file.isAbsent(node)) return { branches: null, tags: null, paths: null };
  const settings = file.map(node, '"push"');
  return {
    branches: parseFilter(file, settings, 'branches'),
    tags: parseFilter(file, settings, 'tags'),
    paths: parseFilter(file, settings, 'paths'),
  };
}

function parsePull(file: YamlFile, node: unknown): PullTrigger {
  if (file.isAbsent(node)) return { types: null, branches: null, paths: null };
  const settings = file.map(node, '"pull_request"');
  const types = file.get(settings, 'types');
  return {
    types: file.isAbsent(types) ? null : file.texts(types, '"types"').slice(0, maxPatterns),
    branches: parseFilter(file, settings, 'branches'),
    paths: parseFilter(file, settings, 'paths'),
  };
}

function parseMergeGroup(file: YamlFile, node: unknown): MergeGroupTrigger {
  if (file.isAbsent(node)) return { branches: null };
  return { branches: parseFilter(file, file.map(node, '"merge_group"'), 'branches') };
}

function parseEvent(file: YamlFile, name: string, node: unknown): EventTrigger {
  const settings = file.isAbsent(node) ? null : file.map(node, `"${name}"`);
  const get = (key: string): unknown => (settings === null ? null : file.get(settings, key));
  const texts = (key: string) => file.texts(get(key), `"${key}"`).slice(0, maxPatterns);
  const workflows = file.isAbsent(get('workflows')) ? [] : texts('workflows');
  if (name === 'workflow_run' && workflows.length === 0)
    throw file.problem(node, '"workflow_run" needs "workflows": the names of those that it follows.');
  return {
    types: file.isAbsent(get('types')) ? null : texts('types'),
    workflows,
    branches: settings === null ? null : parseFilter(file, settings, 'branches'),
  };
}

function parseFilter(file: YamlFile, settings: YAMLMap, name: string): Filter | null {
  const only = file.get(settings, name);
  const ignore = file.get(settings, `${name}-ignore`);
  if (file.isAbsent(only) && file.isAbsent(ignore)) return null;
  if (!file.isAbsent(only) && !file.isAbsent(ignore)) {
    throw file.problem(ignore, `"${name}" and "${name}-ignore" exclude each other; use "!" in front of a pattern.`);
  }
  const node = file.isAbsent(only) ? ignore : only;
  const patterns = file.texts(node, `"${name}"`);
  if (patterns.length > maxPatterns) throw file.problem(node, `A filter has at most ${maxPatterns} patterns.`);
  if (patterns.some((pattern) => pattern.length > maxPatternLength)) {
    throw file.problem(node, `A pattern has at most ${maxPatternLength} characters.`);
  }
  return { kind: node === only ? 'only' : 'ignore', patterns };
}

function parseInputs(file: YamlFile, node: unknown): Map<string, DispatchInput> {
  const inputs = file.isAbsent(node) ? null : file.get(file.map(node, '"workflow_dispatch"'), 'inputs');
  if (file.isAbsent(inputs)) return new Map();
  return new Map(file.entries(inputs, '"inputs"').map(({ key, value }) => [key, parseInput(file, key, value)]));
}

function parseInput(file: YamlFile, name: string, node: unknown): DispatchInput {
  const empty: DispatchInput = { description: '', required: false, type: 'string', default: null, options: [] };
  if (file.isAbsent(node)) return empty;
  const settings = file.map(node, `The input ${name}`);
  const typeNode = file.get(settings, 'type');
  const type = (file.textOrNull(typeNode, '"type"') ?? 'string') as InputType;
  if (!inputTypes.includes(type)) throw file.problem(typeNode, `An input is one of ${inputTypes.join(', ')}.`);
  const options = file.texts(file.get(settings, 'options'), '"options"');
  if (type === 'choice' && options.length === 0)
    throw file.problem(node, `The input ${name} has no options to choose from.`);
  return {
    description: file.textOrNull(file.get(settings, 'description'), '"description"') ?? '',
    required: file.textOrNull(file.get(settings, 'required'), '"required"') === 'true',
    type,
    default: file.textOrNull(file.get(settings, 'default'), '"default"'),
    options,
  };
}

function parseSchedule(file: YamlFile, node: unknown): Schedule[] {
  const list = file.resolve(node);
  if (!isSeq(list)) throw file.problem(node, '"schedule" is a list of entries with "cron".');
  if (list.items.length > maxSchedules) throw file.problem(node, `A workflow has at most ${maxSchedules} schedules.`);
  return list.items.map((item) => {
    const entry = file.map(item, 'An entry of "schedule"');
    const cronNode = file.get(entry, 'cron');
    const cron = file.text(cronNode, '"cron"');
    const zoneNode = file.get(entry, 'timezone');
    const timeZone = file.textOrNull(zoneNode, '"timezone"');
    if (timeZone !== null && !isTimeZone(timeZone))
      throw file.problem(zoneNode, 'A time zone is an IANA name, as Europe/Berlin.');
    if (parseCron(cron, timeZone) === null)
      throw file.problem(
        cronNode,
        'A cron expression has five fields: minute, hour, day, month, weekday; or one word, as @daily.',
      );
    return { cron, timeZone };
  });
}
