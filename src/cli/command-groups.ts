import type { Command } from 'commander';
import type { Run } from './action.ts';

/** Commands that are defined together. */
interface CommandGroup {
  /** Their first words, including hidden ones. */
  names: readonly string[];
  /** Loads the function that adds them to the program. */
  load(): Promise<(program: Command, run: Run) => void>;
}

/**
 * All commands, in the order of the help. Only the needed definitions are loaded: loading all takes a tenth of the
 * server's start.
 */
export const commandGroups: readonly CommandGroup[] = [
  { names: ['serve'], load: async () => (await import('./commands/serve.ts')).addServeCommand },
  { names: ['demo'], load: async () => (await import('./commands/demo.ts')).addDemoCommand },
  { names: ['setup-url'], load: async () => (await import('./commands/setup-url.ts')).addSetupUrlCommand },
  { names: ['user'], load: async () => (await import('./commands/user.ts')).addUserCommands },
  { names: ['key'], load: async () => (await import('./commands/key.ts')).addKeyCommands },
  { names: ['token'], load: async () => (await import('./commands/token.ts')).addTokenCommands },
  {
    names: ['application'],
    load: async () => (await import('./commands/application.ts')).addApplicationCommands,
  },
  { names: ['org'], load: async () => (await import('./commands/org.ts')).addOrgCommands },
  { names: ['team'], load: async () => (await import('./commands/team.ts')).addTeamCommands },
  { names: ['handle'], load: async () => (await import('./commands/handle.ts')).addHandleCommands },
  { names: ['repo'], load: async () => (await import('./commands/repo.ts')).addRepoCommands },
  { names: ['inbox'], load: async () => (await import('./commands/inbox.ts')).addInboxCommands },
  { names: ['issue'], load: async () => (await import('./commands/issue.ts')).addIssueCommands },
  { names: ['board'], load: async () => (await import('./commands/board.ts')).addBoardCommands },
  { names: ['pull'], load: async () => (await import('./commands/pull.ts')).addPullCommands },
  { names: ['lfs'], load: async () => (await import('./commands/lfs.ts')).addLfsCommands },
  { names: ['package'], load: async () => (await import('./commands/package.ts')).addPackageCommands },
  { names: ['release'], load: async () => (await import('./commands/release.ts')).addReleaseCommands },
  {
    names: ['export', 'import'],
    load: async () => (await import('./commands/export-import.ts')).addExportImportCommands,
  },
  { names: ['actions'], load: async () => (await import('./commands/actions.ts')).addActionsCommands },
  { names: ['runner'], load: async () => (await import('./commands/runner.ts')).addRunnerCommands },
  { names: ['run'], load: async () => (await import('./commands/run.ts')).addRunCommands },
  { names: ['environment'], load: async () => (await import('./commands/environment.ts')).addEnvironmentCommands },
  { names: ['workflow', 'ci'], load: async () => (await import('./commands/workflow.ts')).addWorkflowCommands },
  { names: ['federation'], load: async () => (await import('./commands/federation.ts')).addFederationCommands },
  { names: ['delivery'], load: async () => (await import('./commands/delivery.ts')).addDeliveryCommands },
  { names: ['webhook'], load: async () => (await import('./commands/webhook.ts')).addWebhookCommands },
  { names: ['mail'], load: async () => (await import('./commands/mail.ts')).addMailCommands },
  { names: ['init'], load: async () => (await import('./commands/init.ts')).addInitCommand },
  {
    names: ['status', 'stats', 'cleanup', 'trash'],
    load: async () => (await import('./commands/maintenance.ts')).addMaintenanceCommands,
  },
  { names: ['backup', 'restore'], load: async () => (await import('./commands/backup.ts')).addBackupCommands },
  { names: ['recover'], load: async () => (await import('./commands/recover.ts')).addRecoverCommand },
  { names: ['db', 'reindex'], load: async () => (await import('./commands/database.ts')).addDatabaseCommands },
  { names: ['rollback'], load: async () => (await import('./commands/rollback.ts')).addRollbackCommand },
  { names: ['objects'], load: async () => (await import('./commands/objects.ts')).addObjectsCommands },
  { names: ['doctor'], load: async () => (await import('./commands/doctor.ts')).addDoctorCommand },
  { names: ['log', 'audit'], load: async () => (await import('./commands/log.ts')).addLogCommands },
  { names: ['job'], load: async () => (await import('./commands/job.ts')).addJobCommands },
  { names: ['cron'], load: async () => (await import('./commands/cron.ts')).addCronCommands },
  { names: ['node'], load: async () => (await import('./commands/node.ts')).addNodeCommands },
  { names: ['reload'], load: async () => (await import('./commands/reload.ts')).addReloadCommand },
  { names: ['ssh'], load: async () => (await import('./commands/ssh.ts')).addSshCommands },
  { names: ['config'], load: async () => (await import('./commands/config.ts')).addConfigCommands },
  { names: ['migrate'], load: async () => (await import('./commands/migrate.ts')).addMigrateCommand },
  { names: ['health'], load: async () => (await import('./commands/health.ts')).addHealthCommand },
  { names: ['routes'], load: async () => (await import('./commands/routes.ts')).addRoutesCommand },
  { names: ['version'], load: async () => (await import('./commands/version.ts')).addVersionCommand },
  { names: ['self-update'], load: async () => (await import('./commands/self-update.ts')).addSelfUpdateCommand },
  {
    names: ['completion', 'complete-names'],
    load: async () => (await import('./commands/completion.ts')).addCompletionCommands,
  },
  { names: ['help'], load: async () => (await import('./commands/help.ts')).addHelpCommand },
];

/** These need the definitions of all commands. */
const aboutAll = ['help', 'completion'];

/**
 * The parts that a command line needs: one if its first word is a command, otherwise all.
 * @param withValue flags before it whose next word is their value
 */
export function groupsFor(words: readonly string[], withValue: readonly string[]): readonly CommandGroup[] {
  const name = words.find((word, at) => !word.startsWith('-') && !withValue.includes(words[at - 1] ?? ''));
  const part =
    name === undefined || aboutAll.includes(name) ? undefined : commandGroups.find(({ names }) => names.includes(name));
  return part === undefined ? commandGroups : [part];
}
