import type { Command } from 'commander';
import type { SecondFactorState } from '../../accounts/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth user second-factor reset`: for a user who has lost their device and their recovery codes. */
export function addUserSecondFactorCommands(user: Command, run: Run): void {
  const noun = addNoun(user, 'second-factor', "a user's authenticator app, passkeys and recovery codes");
  withExamples(
    noun
      .command('show')
      .description("show a user's second factors")
      .argument('<name>', 'username')
      .action(run(showSecondFactor)),
    'hearth user second-factor show alice',
  );
  withExamples(
    noun
      .command('reset')
      .description("remove all of a user's second factors and end their sessions")
      .argument('<name>', 'username')
      .option('--dry-run', 'only show what would be removed')
      .action(run(resetSecondFactor)),
    'hearth user second-factor reset alice',
    'hearth user second-factor reset alice --dry-run',
  );
}

/** `authenticator app, 2 passkeys, 9 recovery codes`. */
export function factorsOf({ totpAt, passkeys, recoveryCodesLeft }: SecondFactorState): string {
  if (totpAt === null && passkeys === 0) return 'none';
  return [
    ...(totpAt === null ? [] : ['authenticator app']),
    ...(passkeys === 0 ? [] : [passkeys === 1 ? '1 passkey' : `${passkeys} passkeys`]),
    recoveryCodesLeft === 1 ? '1 recovery code' : `${recoveryCodesLeft} recovery codes`,
  ].join(', ');
}

export const stateToJson = ({ totpAt, passkeys, recoveryCodesLeft }: SecondFactorState): object => ({
  authenticatorAppSince: isoOrNull(totpAt),
  passkeys,
  recoveryCodesLeft,
});

const showSecondFactor: Action<object, [string]> = async (cli, _options, name) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const state = await modules.accounts.secondFactor.stateOf(person.id);
  cli.output.show(
    [
      ['Username', nameOf(person)],
      ['Second factor', factorsOf(state)],
    ],
    stateToJson(state),
  );
};

const resetSecondFactor: Action<{ dryRun?: true }, [string]> = async (cli, { dryRun }, name) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const state = await modules.accounts.secondFactor.stateOf(person.id);
  if (dryRun)
    return cli.output.result(`Would remove from ${nameOf(person)}: ${factorsOf(state)}.`, {
      removed: stateToJson(state),
    });
  await modules.accounts.secondFactor.reset(person.id);
  cli.output.result(
    `Removed from ${nameOf(person)}: ${factorsOf(state)}. All sessions have ended. Keys and tokens keep working.`,
    { removed: stateToJson(state) },
  );
};
