import { isScalar } from 'yaml';
import type { Concurrency, Permissions } from './workflow.ts';
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

/**
 * `permissions`, as far as the task token has any: its access to the repository's contents. As on other forges, a
 * mapping without `contents` removes it. Null when the file does not specify it.
 */
export function parsePermissions(file: YamlFile, node: unknown): Permissions {
  if (file.isAbsent(node)) return null;
  if (isScalar(file.resolve(node))) {
    const word = file.text(node, '"permissions"');
    if (word === 'read-all') return 'read';
    if (word === 'write-all') return 'write';
    throw file.problem(node, '"permissions" is read-all, write-all or a mapping.');
  }
  const contents = file.get(file.map(node, '"permissions"'), 'contents');
  const level = file.textOrNull(contents, '"contents"') ?? 'none';
  if (level !== 'read' && level !== 'write' && level !== 'none')
    throw file.problem(contents, 'A permission is read, write or none.');
  return level;
}
