import type { Command } from 'commander';
import type { ListedRoute } from '../../pages/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth routes`: the route table of the web server, for developers and for security reviewers. */
export function addRoutesCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('routes')
      .description('list every URL of the web server with its access rule')
      .action(run(showRoutes)),
    'hearth routes',
    'hearth routes --json',
  );
}

const columns: Column<ListedRoute>[] = [
  { title: 'METHOD', cell: (row) => row.method, whole: true },
  { title: 'PATH', cell: (row) => row.path, whole: true },
  { title: 'ACCESS', cell: (row) => row.access, whole: true },
  { title: 'COST', cell: (row) => row.cost, whole: true },
];

async function showRoutes(cli: Cli): Promise<void> {
  const { listRoutes } = await import('../../pages/index.ts');
  cli.output.list(listRoutes(), columns, ['route', 'routes'], (row) => row);
}
