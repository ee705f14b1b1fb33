import { z } from 'zod';
import type { RuleTarget } from '../../access/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { Found, ListedRule } from '../../repositories/index.ts';
import { numericId } from '../../webhooks/index.ts';
import type { WebDeps } from '../../http/index.ts';
import { created, json, nothing } from '../responses.ts';
import { operation } from '../operation.ts';
import {
  branchProtection,
  branchProtectionEdit,
  newBranchProtection,
  newTagProtection,
  tagProtection,
  tagProtectionEdit,
} from './branch-rule-schemas.ts';
import { branchInput, showBranchRule, showTagRule, tagInput } from './branch-rule-fields.ts';
import type { PersonViewer } from '../../access/index.ts';

const branchRules = '/repos/{owner}/{name}/branch_protections';
const tagRules = '/repos/{owner}/{name}/tag_protections';
const common = { tag: 'Branch rules', access: 'repository:admin', cost: 'rows' } as const;

interface Call {
  viewer: PersonViewer;
  found: Found;
  deps: WebDeps;
}

async function rulesFor({ viewer, found: { canonical }, deps }: Call, target: RuleTarget): Promise<ListedRule[]> {
  const rules = await deps.repositories.rules.list(viewer, canonical.owner, canonical.name);
  return rules.filter((rule) => rule.target === target);
}

/** The rule for branches of this very pattern. Refuses `rule_not_found`. */
async function branchRule(call: Call, pattern: string): Promise<ListedRule> {
  return present((await rulesFor(call, 'BRANCH')).find((rule) => rule.pattern === pattern));
}

async function tagRule(call: Call, id: string): Promise<ListedRule> {
  return present((await rulesFor(call, 'TAG')).find((rule) => String(numericId(rule.id)) === id));
}

function present(rule: ListedRule | undefined): ListedRule {
  if (rule === undefined) throw notFound('rule_not_found', 'There is no such rule.');
  return rule;
}

const listBranchProtections = operation({
  ...common,
  id: 'listBranchProtections',
  method: 'GET',
  path: branchRules,
  summary: 'List the rules for branches, in their order',
  status: 200,
  response: z.array(branchProtection),
  run: async (call) => json((await rulesFor(call, 'BRANCH')).map(showBranchRule)),
});

const addBranchProtection = operation({
  ...common,
  id: 'addBranchProtection',
  method: 'POST',
  path: branchRules,
  summary: 'Create a rule for branches',
  description: 'What is left out is as usual: who may push pushes and creates, nobody rewrites or deletes.',
  status: 201,
  refuses: [409],
  body: newBranchProtection,
  response: branchProtection,
  async run(call) {
    const { rule_name: name, branch_name: sameName, ...body } = call.body;
    // Gitea's SDK sends the one that it does not set as empty text.
    const pattern = name || sameName;
    if (!pattern) throw invalid('invalid_pattern', 'Say which branches the rule is for.', { field: 'rule_name' });
    const { owner, name: repository } = call.found.canonical;
    const rule = { ...branchInput(body), target: 'branch', pattern };
    const id = await call.deps.repositories.rules.add(call.viewer, owner, repository, rule);
    const added = present((await rulesFor(call, 'BRANCH')).find((each) => each.id === id));
    return created(
      showBranchRule(added),
      `/repos/${owner}/${repository}/branch_protections/${encodeURIComponent(added.pattern)}`,
    );
  },
});

const oneBranchRule = `${branchRules}/{rule}` as const;

const getBranchProtection = operation({
  ...common,
  id: 'getBranchProtection',
  method: 'GET',
  path: oneBranchRule,
  summary: 'Get a rule for branches by its pattern',
  status: 200,
  response: branchProtection,
  run: async (call) => json(showBranchRule(await branchRule(call, call.params.rule))),
});

const editBranchProtection = operation({
  ...common,
  id: 'editBranchProtection',
  method: 'PATCH',
  path: oneBranchRule,
  summary: 'Edit a rule for branches',
  description: 'What is left out stays as it is.',
  status: 200,
  body: branchProtectionEdit,
  response: branchProtection,
  async run(call) {
    const { id } = await branchRule(call, call.params.rule);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.change(call.viewer, owner, name, id, branchInput(call.body));
    return json(showBranchRule(await branchRule(call, call.params.rule)));
  },
});

const deleteBranchProtection = operation({
  ...common,
  id: 'deleteBranchProtection',
  method: 'DELETE',
  path: oneBranchRule,
  summary: 'Delete a rule for branches',
  status: 204,
  async run(call) {
    const { id } = await branchRule(call, call.params.rule);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.remove(call.viewer, owner, name, id);
    return nothing();
  },
});

const listTagProtections = operation({
  ...common,
  id: 'listTagProtections',
  method: 'GET',
  path: tagRules,
  summary: 'List the rules for tags, in their order',
  status: 200,
  response: z.array(tagProtection),
  run: async (call) => json((await rulesFor(call, 'TAG')).map(showTagRule)),
});

const addTagProtection = operation({
  ...common,
  id: 'addTagProtection',
  method: 'POST',
  path: tagRules,
  summary: 'Create a rule for tags',
  description: 'What is left out is as usual: who may push creates tags, nobody moves or deletes them.',
  status: 201,
  refuses: [409],
  body: newTagProtection,
  response: tagProtection,
  async run(call) {
    const { owner, name } = call.found.canonical;
    const rule = { ...tagInput(call.body), target: 'tag', pattern: call.body.name_pattern };
    const id = await call.deps.repositories.rules.add(call.viewer, owner, name, rule);
    const added = present((await rulesFor(call, 'TAG')).find((each) => each.id === id));
    return created(showTagRule(added), `/repos/${owner}/${name}/tag_protections/${numericId(id)}`);
  },
});

const oneTagRule = `${tagRules}/{id}` as const;

const getTagProtection = operation({
  ...common,
  id: 'getTagProtection',
  method: 'GET',
  path: oneTagRule,
  summary: 'Get a rule for tags',
  status: 200,
  response: tagProtection,
  run: async (call) => json(showTagRule(await tagRule(call, call.params.id))),
});

const editTagProtection = operation({
  ...common,
  id: 'editTagProtection',
  method: 'PATCH',
  path: oneTagRule,
  summary: 'Edit a rule for tags',
  description: 'What is left out stays as it is.',
  status: 200,
  refuses: [409],
  body: tagProtectionEdit,
  response: tagProtection,
  async run(call) {
    const { id } = await tagRule(call, call.params.id);
    const { owner, name } = call.found.canonical;
    const input = { ...tagInput(call.body), pattern: call.body.name_pattern ?? undefined };
    await call.deps.repositories.rules.change(call.viewer, owner, name, id, input);
    return json(showTagRule(await tagRule(call, call.params.id)));
  },
});

const deleteTagProtection = operation({
  ...common,
  id: 'deleteTagProtection',
  method: 'DELETE',
  path: oneTagRule,
  summary: 'Delete a rule for tags',
  status: 204,
  async run(call) {
    const { id } = await tagRule(call, call.params.id);
    const { owner, name } = call.found.canonical;
    await call.deps.repositories.rules.remove(call.viewer, owner, name, id);
    return nothing();
  },
});

export const branchRuleOperations = [
  listBranchProtections,
  addBranchProtection,
  getBranchProtection,
  editBranchProtection,
  deleteBranchProtection,
  listTagProtections,
  addTagProtection,
  getTagProtection,
  editTagProtection,
  deleteTagProtection,
];
