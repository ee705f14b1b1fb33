import { oneOf, repositoryUrl } from '../../http/index.ts';
import { isManyNames } from '../../repositories/index.ts';
import type { ListedRule } from '../../repositories/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryPersonContext } from '../app/request-context.ts';
import {
  formOf,
  inputOf,
  levelTexts,
  newForm,
  readForm,
  viewDecidedLinks,
  viewForm,
  viewPattern,
  viewRule,
} from './branch-rules.view.ts';
import type { RuleForm } from './branch-rules.view.ts';
import type { RepositoryDeps } from './deps.ts';

/** Maximum number of names beside a rule: in the list, and on its own page. */
const listedNames = 5;
const shownNames = 100;

const listUrl = ({ found }: RepositoryPersonContext): string => `${repositoryUrl(found.canonical)}/settings/branches`;

/** `B/settings/branches`: the rules in order. For all administrators of the repository. */
export const showBranchRules: Page<RepositoryPersonContext, RepositoryDeps> = async (context, { repositories }) => {
  const { viewer, found, query } = context;
  const rules = await repositories.rules.list(viewer, found.canonical.owner, found.canonical.name);
  const decided = await repositories.rules.namesDecided(found, rules, listedNames);
  const viewAll = (target: ListedRule['target']) => {
    const some = rules.filter((rule) => rule.target === target);
    const patterns = some.filter(({ pattern }) => isManyNames(pattern));
    return some.map((rule) =>
      viewRule(rule, found, decided?.get(rule.id) ?? null, {
        isFirst: rule === patterns[0],
        isLast: rule === patterns.at(-1),
      }),
    );
  };
  return page('repository/branch-rules', {
    repository: viewRepositoryHeader(found),
    section: 'branches',
    defaultBranch: found.repository.defaultBranch,
    branches: viewAll('BRANCH'),
    tags: viewAll('TAG'),
    notice: viewFlashMessage(query),
  });
};

/** Query `for`: `branch` or `tag`. */
export const showNewRule: Page<RepositoryPersonContext, RepositoryDeps> = async (context) =>
  rulePage(context, newForm(oneOf(['BRANCH', 'TAG'], (context.query.get('for') ?? '').toUpperCase())), null);

function rulePage(context: RepositoryPersonContext, form: RuleForm, refusal: FormRefusal | null): PageReply {
  const { found } = context;
  return page('repository/branch-rule', {
    repository: viewRepositoryHeader(found),
    section: 'branches',
    rule: null,
    action: listUrl(context),
    form: viewForm(form),
    levels: levelTexts,
    defaultBranch: found.repository.defaultBranch,
    decided: null,
    refusal,
  });
}

/** Fields `target` and those of `readForm`. */
export const addRule: Page<RepositoryPersonContext, RepositoryDeps> = (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
    form,
  } = context;
  const input = readForm(oneOf(['BRANCH', 'TAG'], form.text('target').toUpperCase()), form);
  return submitForm(
    async () => {
      const rule = { ...inputOf(input), target: input.target };
      await repositories.rules.add(viewer, canonical.owner, canonical.name, rule);
      return seeOther(withFlashMessage(listUrl(context), 'rule-added'));
    },
    (refusal) => rulePage(context, input, refusal),
  );
};

/** `B/settings/branches/{id}`: the rule, and the names that it matches. */
export const showRule: Page<RepositoryPersonContext, RepositoryDeps> = async (context, deps) => {
  const rule = await ruleOf(context, deps);
  return presentRule(context, deps, rule, formOf(rule), null);
};

const ruleOf = (
  { viewer, found: { canonical }, params }: RepositoryPersonContext,
  { repositories }: RepositoryDeps,
): Promise<ListedRule> => repositories.rules.find(viewer, canonical.owner, canonical.name, params.rule ?? '');

async function presentRule(
  context: RepositoryPersonContext,
  { repositories }: RepositoryDeps,
  rule: ListedRule,
  form: RuleForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { viewer, found } = context;
  const rules = await repositories.rules.list(viewer, found.canonical.owner, found.canonical.name);
  const decided = (await repositories.rules.namesDecided(found, rules, shownNames))?.get(rule.id);
  const named = Object.values(rule.named).flat();
  return page('repository/branch-rule', {
    repository: viewRepositoryHeader(found),
    section: 'branches',
    rule: viewPattern(rule.pattern, found.repository.defaultBranch),
    action: `${listUrl(context)}/${rule.id}`,
    form: viewForm(form),
    levels: levelTexts,
    defaultBranch: found.repository.defaultBranch,
    decided: decided === undefined ? null : viewDecidedLinks(found, decided),
    withoutAccess: [...new Set(named.flatMap(({ person, counts }) => (counts ? [] : (person.username ?? []))))],
    refusal,
  });
}

/** The fields of `readForm`. */
export const saveRule: Page<RepositoryPersonContext, RepositoryDeps> = async (context, deps) => {
  const {
    viewer,
    found: { canonical },
  } = context;
  const rule = await ruleOf(context, deps);
  const input = readForm(rule.target, context.form);
  return submitForm(
    async () => {
      await deps.repositories.rules.change(viewer, canonical.owner, canonical.name, rule.id, inputOf(input));
      return seeOther(withFlashMessage(listUrl(context), 'rule-saved'));
    },
    (refusal) => presentRule(context, deps, rule, input, refusal),
  );
};

/** Field `direction`: `up` or `down`. */
export const moveRule: Page<RepositoryPersonContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
    form,
    params,
  } = context;
  const direction = oneOf(['up', 'down'], form.text('direction'));
  await repositories.rules.move(viewer, canonical.owner, canonical.name, params.rule ?? '', direction);
  return seeOther(listUrl(context));
};

export const removeRule: Page<RepositoryPersonContext, RepositoryDeps> = async (context, { repositories }) => {
  const {
    viewer,
    found: { canonical },
    params,
  } = context;
  await repositories.rules.remove(viewer, canonical.owner, canonical.name, params.rule ?? '');
  return seeOther(withFlashMessage(listUrl(context), 'rule-removed'));
};
