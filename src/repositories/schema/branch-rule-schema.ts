import { EntitySchema } from 'typeorm';
import type { EntitySchemaColumnOptions } from 'typeorm';
import type { ApprovalsSurvive, RuleAct, RuleLevel, RuleTarget } from '../../access/index.ts';

/** A row of `branch_rules`. Times are milliseconds since the epoch. */
export interface BranchRuleRow {
  id: string;
  repositoryId: string;
  target: RuleTarget;
  /** Order among the repository's rules, ascending. */
  position: number;
  pattern: string;
  pushLevel: RuleLevel;
  pushTasks: boolean;
  pushDeployKeys: boolean;
  forceLevel: RuleLevel;
  forceTasks: boolean;
  forceDeployKeys: boolean;
  createLevel: RuleLevel;
  createTasks: boolean;
  createDeployKeys: boolean;
  deleteLevel: RuleLevel;
  deleteTasks: boolean;
  deleteDeployKeys: boolean;
  linear: boolean;
  signed: boolean;
  mergeLevel: RuleLevel;
  mergeTasks: boolean;
  approvals: number;
  /** Whether only approvals of the people and teams of the act `approve` count. */
  approversNamed: boolean;
  ownersApprove: boolean;
  approvalsSurvive: ApprovalsSurvive;
  threadsResolved: boolean;
  /** JSON arrays. */
  checks: string;
  styles: string;
  upToDate: 'no' | 'yes' | 'queue';
  adminsToo: boolean;
  createdAt: number;
  updatedAt: number;
}

const level = (name: string): EntitySchemaColumnOptions => ({ name, type: 'text' });
const flag = (name: string): EntitySchemaColumnOptions => ({ name, type: 'boolean' });

export const branchRuleSchema = new EntitySchema<BranchRuleRow>({
  name: 'branchRule',
  tableName: 'branch_rules',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    target: { type: 'text' },
    position: { type: 'integer' },
    pattern: { type: 'text' },
    pushLevel: level('push_level'),
    pushTasks: flag('push_tasks'),
    pushDeployKeys: flag('push_deploy_keys'),
    forceLevel: level('force_level'),
    forceTasks: flag('force_tasks'),
    forceDeployKeys: flag('force_deploy_keys'),
    createLevel: level('create_level'),
    createTasks: flag('create_tasks'),
    createDeployKeys: flag('create_deploy_keys'),
    deleteLevel: level('delete_level'),
    deleteTasks: flag('delete_tasks'),
    deleteDeployKeys: flag('delete_deploy_keys'),
    linear: flag('linear'),
    signed: flag('signed'),
    mergeLevel: level('merge_level'),
    mergeTasks: flag('merge_tasks'),
    approvals: { type: 'integer' },
    approversNamed: flag('approvers_named'),
    ownersApprove: flag('owners_approve'),
    approvalsSurvive: level('approvals_survive'),
    threadsResolved: flag('threads_resolved'),
    checks: { type: 'text' },
    styles: { type: 'text' },
    upToDate: level('up_to_date'),
    adminsToo: flag('admins_too'),
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});

/** Actions for which a rule names people and teams; `approve` is to give an approval that counts. */
export type NamedAct = RuleAct | 'merge' | 'approve';

/** A row of `branch_rule_people`: a user who may perform an action in addition to those with the role. */
export interface BranchRulePersonRow {
  ruleId: string;
  act: NamedAct;
  userId: string;
}

export const branchRulePersonSchema = new EntitySchema<BranchRulePersonRow>({
  name: 'branchRulePerson',
  tableName: 'branch_rule_people',
  columns: {
    ruleId: { name: 'rule_id', type: 'text', primary: true },
    act: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
  },
});

/** A row of `branch_rule_teams`: a team whose members may perform an action in addition to those with the role. */
interface BranchRuleTeamRow {
  ruleId: string;
  act: NamedAct;
  teamId: string;
}

export const branchRuleTeamSchema = new EntitySchema<BranchRuleTeamRow>({
  name: 'branchRuleTeam',
  tableName: 'branch_rule_teams',
  columns: {
    ruleId: { name: 'rule_id', type: 'text', primary: true },
    act: { type: 'text', primary: true },
    teamId: { name: 'team_id', type: 'text', primary: true },
  },
});
