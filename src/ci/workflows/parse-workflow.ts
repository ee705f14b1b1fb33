import { isMap } from 'yaml';
import type { YAMLMap } from 'yaml';
import { unbundle } from './bundle.ts';
import { checkFile } from './check-file.ts';
import { describeFinding, knownTriggers, problemOf } from './file-finding.ts';
import type { FileFinding } from './file-finding.ts';
import { parseJobs } from './parse-jobs.ts';
import { parseConcurrency, parsePermissions } from './parse-settings.ts';
import type { ParsedJob } from './parsed-job.ts';
import { parseTriggers } from './parse-triggers.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { Triggers, Workflow } from './workflow.ts';
import { maxWorkflowBytes, tooLargeFile } from './workflow-size.ts';
import { YamlFile } from './yaml-nodes.ts';

/** A parsed file, or its error. */
export type ParsedWorkflow =
  | { ok: true; workflow: Workflow; findings: readonly FileFinding[] }
  | {
      ok: false;
      problem: WorkflowProblem;
      name: string;
      findings: readonly FileFinding[];
      /** Triggers, if they could be parsed: a broken job must not fail pushes that do not trigger it. */
      triggers: Triggers | null;
    };

/** A parsed file with the nodes of its jobs, or its error. */
type ReadWorkflow =
  | { workflow: Workflow; jobs: ReadonlyMap<string, ParsedJob>; findings: readonly FileFinding[] }
  | (ParsedWorkflow & { ok: false });

/**
 * Parses a workflow file. Never throws: a problem is returned with its line and column. For the worker pool; the
 * server uses a `WorkflowReader`.
 * @param path below the workflows folder
 */
export function parseWorkflow(path: string, text: string): ParsedWorkflow {
  const read = readWorkflow(path, text);
  return 'ok' in read ? read : { ok: true, workflow: read.workflow, findings: read.findings };
}

/** Parses a workflow file and returns the nodes of its jobs. */
export function readWorkflow(path: string, text: string): ReadWorkflow {
  let name = path;
  let triggers: Triggers | null = null;
  const findings: FileFinding[] = [];
  try {
    const { main, called, commits } = unbundle(text);
    if (Buffer.byteLength(main) > maxWorkflowBytes) throw new WorkflowProblem(tooLargeFile, { line: 1, column: 1 });
    const file = new YamlFile(main);
    const { contents } = file.document;
    if (!isMap(contents)) throw file.problemAt(0, 'A workflow file is a mapping with "on" and "jobs".');
    findings.push(...checkFile(file));
    const root = contents as YAMLMap;
    const given = file.textOrNull(file.get(root, 'name'), '"name"');
    name = given ?? path;
    const all = parseTriggers(file, file.get(root, 'on'));
    triggers = knownTriggers(all);
    const permissions = parsePermissions(file, file.get(root, 'permissions'));
    const files = openOnce(called);
    findings.push(...findingsOfCalled(files));
    const { jobs, calls } = parseJobs(
      { file, base: null, called: { files, commits }, permissions, depth: 0 },
      file.get(root, 'jobs'),
    );
    return {
      jobs,
      findings,
      workflow: {
        path,
        name,
        isNamed: given !== null,
        runName: file.textOrNull(file.get(root, 'run-name'), '"run-name"'),
        triggers: all,
        concurrency: parseConcurrency(file, file.get(root, 'concurrency')),
        permissions,
        jobs: new Map([...jobs].map(([key, { definition }]) => [key, definition])),
        calls,
      },
    };
  } catch (error) {
    return { ok: false, problem: problemOf(findings) ?? asProblem(error), name, triggers, findings };
  }
}

/** Parses each file once, even if many jobs call it. */
function openOnce(texts: ReadonlyMap<string, string>): Map<string, () => YamlFile> {
  const open = (text: string): (() => YamlFile) => {
    let file: YamlFile | undefined;
    return () => (file ??= new YamlFile(text));
  };
  return new Map([...texts].map(([path, text]) => [path, open(text)]));
}

/** Errors of called files, reported at the top of the calling file. */
function findingsOfCalled(files: ReadonlyMap<string, () => YamlFile>): FileFinding[] {
  return [...files].flatMap(([path, open]) => {
    try {
      return checkFile(open())
        .filter(({ severity }) => severity === 'error')
        .map((one) => ({ ...one, line: 1, column: 1, message: `${path}, ${describeFinding(one)}` }));
    } catch {
      // The call reports the problem.
      return [];
    }
  });
}

/** Reports unexpected errors of the parser library as a problem of the file. */
function asProblem(error: unknown): WorkflowProblem {
  if (error instanceof WorkflowProblem) return error;
  return new WorkflowProblem('This file could not be read.', { line: 1, column: 1 });
}
