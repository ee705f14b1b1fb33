import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { findOwner } from './find-owner.ts';
import { findRepository } from './find-repository.ts';

export function addWorkflowProblemsCommand(workflow: Command, run: Run): void {
  withExamples(
    workflow
      .command('problems')
      .description('list problems in the workflow files on all default branches, for example after an upgrade')
      .option('--owner <name>', 'only repositories of this user or organisation')
      .option('--errors', 'only files that do not start any runs')
      .action(run(listProblems)),
    'hearth workflow problems --errors',
    'hearth workflow problems --owner alice --json',
  );
}

interface Problem {
  repository: string;
  workflow: string;
  severity: 'error' | 'warning';
  message: string;
}

const columns: Column<Problem>[] = [
  { title: 'REPOSITORY', cell: ({ repository }) => repository, whole: true },
  { title: 'WORKFLOW', cell: ({ workflow }) => workflow, whole: true },
  { title: 'KIND', cell: ({ severity }) => severity, whole: true },
  { title: 'MESSAGE', cell: ({ message }) => message, whole: true },
];

const listProblems: Action<{ owner?: string; errors?: true }, []> = async (cli, { owner, errors }) => {
  const modules = await cli.openModules();
  const chosen = owner === undefined ? null : await findOwner(modules, owner);
  const problems: Problem[] = [];
  for (const row of await modules.repositories.listAll()) {
    if (row.archivedAt !== null || (chosen !== null && row.owner.id !== chosen.id)) continue;
    const repository = `${row.owner.handle}/${row.name}`;
    for (const { path: workflow, problem, warnings } of await modules.ci.workflows.list(
      await findRepository(modules, repository),
    )) {
      const at = { repository, workflow };
      if (problem !== null) problems.push({ ...at, severity: 'error', message: problem });
      if (errors) continue;
      for (const { line, column, message } of warnings)
        problems.push({ ...at, severity: 'warning', message: `${line}:${column} ${message}` });
    }
  }
  cli.output.list(problems, columns, ['finding', 'findings'], (one) => one);
};
