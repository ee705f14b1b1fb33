import { isMap, isSeq } from 'yaml';
import type { YAMLMap } from 'yaml';
import type { YamlFile } from './yaml-nodes.ts';

/** The steps of a job in order; those under `parallel` one after the other, as runners execute them. */
export function stepsOf(file: YamlFile, node: unknown): unknown[] {
  const steps = file.resolve(node);
  return (isSeq(steps) ? steps.items : []).flatMap((item) => {
    const group = groupOf(file, item);
    return group === null ? [item] : group;
  });
}

/** The steps of a group; null for any other step. */
function groupOf(file: YamlFile, item: unknown): readonly unknown[] | null {
  const step = file.resolve(item);
  if (!isMap(step)) throw file.problem(item, 'A step has to be a mapping.');
  const group = file.resolve(file.get(step as YAMLMap, 'parallel'));
  return isSeq(group) ? group.items : null;
}

const controls = ['wait', 'wait-all', 'cancel'];

/** Name of a step that controls others; null for a step with a command or an action. */
export function controlOf(file: YamlFile, step: YAMLMap): string | null {
  const names = new Set(file.entries(step, 'a step').map(({ key }) => key));
  if (names.has('run') || names.has('uses')) return null;
  return controls.find((one) => names.has(one)) ?? null;
}

/**
 * Explains why runners cannot execute a job as its file intends; null if they can. The file is accepted, because other
 * jobs may run.
 * @param base source of the file; null for the repository of the run
 */
export function unsupportedIn(file: YamlFile, job: YAMLMap, base: string | null): string | null {
  for (const item of stepsOf(file, file.get(job, 'steps'))) {
    const step = file.map(item, 'A step');
    const background = file.get(step, 'background');
    const control =
      controlOf(file, step) ?? (file.isAbsent(background) || file.json(background) === false ? null : 'background');
    if (control !== null)
      return `A step of this job has "${control}". Neither Gitea’s nor Forgejo’s runner can run steps in the background.`;
    const uses = file.get(step, 'uses');
    if (base !== null && !file.isAbsent(uses) && file.text(uses, '"uses"').startsWith('$/'))
      return 'A step of this job uses "$/" in a workflow of another repository. Runners do not know where that is: name it as owner/name/path@ref.';
  }
  return null;
}
