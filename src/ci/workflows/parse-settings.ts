import { isScalar } from 'yaml';
import { allTaskPermissions, taskPermissions } from '../../access/index.ts';
import type { TaskPermission } from '../../access/index.ts';
import type { Concurrency, JobEnvironment, Permissions } from './workflow.ts';
import type { YamlFile } from './yaml-nodes.ts';

/** `concurrency`: the name of a group, or a mapping. */
export function parseConcurrency(file: YamlFile, node: unknown): Concurrency | null {
  if (file.isAbsent(node)) return null;
  if (isScalar(file.resolve(node)))
    return { group: file.text(node, '"concurrency"'), cancelInProgress: false, queue: 'single' };
  const settings = file.map(node, '"concurrency"');
  const queue = file.get(settings, 'queue');
  const queueName = file.textOrNull(queue, '"queue"') ?? 'single';
  if (queueName !== 'single' && queueName !== 'max') throw file.problem(queue, '"queue" is single or max.');
  return {
    group: file.text(file.get(settings, 'group'), '"group"'),
    cancelInProgress: file.json(file.get(settings, 'cancel-in-progress')) ?? false,
    queue: queueName,
  };
}

/** `environment`: a name, or a mapping. */
export function parseEnvironment(file: YamlFile, node: unknown): JobEnvironment | null {
  if (file.isAbsent(node)) return null;
  if (isScalar(file.resolve(node))) return { name: file.text(node, '"environment"'), url: null, deployment: true };
  const settings = file.map(node, '"environment"');
  return {
    name: file.text(file.get(settings, 'name'), '"name"'),
    url: file.textOrNull(file.get(settings, 'url'), '"url"'),
    deployment: file.json(file.get(settings, 'deployment')) ?? true,
  };
}

const words = ['read', 'write', 'none'];

/**
 * Parses `permissions` of the task token: a word for all, or a mapping. As on other forges, a mapping removes
 * permissions that it does not name; names used only by other forges are ignored. Null if the file does not specify it.
 */
export function parsePermissions(file: YamlFile, node: unknown): Permissions {
  if (file.isAbsent(node)) return null;
  if (isScalar(file.resolve(node))) {
    const word = file.text(node, '"permissions"');
    if (word === 'read-all') return allTaskPermissions('read');
    if (word === 'write-all') return allTaskPermissions('write', { idToken: true });
    if (word === 'none') return {};
    throw file.problem(node, '"permissions" is read-all, write-all or a mapping.');
  }
  const levels: { [name in TaskPermission]?: 'read' | 'write' } = {};
  for (const { key, value } of file.entries(node, '"permissions"')) {
    const level = file.text(value, `"${key}"`);
    if (!words.includes(level)) throw file.problem(value, 'A permission is read, write or none.');
    const name = taskPermissions.find((one) => one === key);
    if (name !== undefined && level !== 'none') levels[name] = level as 'read' | 'write';
  }
  return levels;
}
