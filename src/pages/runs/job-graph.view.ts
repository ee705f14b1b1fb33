import { isFinal, statusOfMatrix } from '../../ci/index.ts';
import type { JobRow, RunStatus } from '../../ci/index.ts';
import { viewStatus } from '../app/commit-state.view.ts';
import type { StatusView } from '../app/commit-state.view.ts';

/** A box of the graph: one job, or all jobs of a matrix together, each with its own state. */
interface NodeView {
  key: string;
  label: string;
  url: string;
  status: StatusView;
  x: number;
  y: number;
  height: number;
  /** The jobs of a matrix, in its order; empty for a single job. */
  members: MemberView[];
  /** Number of jobs beyond those shown. */
  hidden: { count: number; x: number; y: number } | null;
}

interface MemberView {
  label: string;
  url: string;
  status: StatusView;
  x: number;
  y: number;
}

/** The dependencies between jobs, from left to right, as numbers for an SVG. */
interface JobGraphView {
  width: number;
  height: number;
  nodes: NodeView[];
  /** Curves, as the `d` of a path. */
  edges: string[];
}

const box = { width: 184, height: 40, gapX: 56, gapY: 14, margin: 4 };
const maxLabel = 22;
/** States of matrix jobs below the label, large enough for touch (WCAG 2.2 SC 2.5.8). */
const member = { size: 24, columns: 7, maxRows: 4 };

const running: readonly RunStatus[] = ['cancelling', 'running', 'waiting', 'blocked'];

/** The combined status of a matrix: an unfinished job takes precedence over finished ones. */
function statusOf(matrixJobs: readonly JobRow[]): RunStatus {
  return (
    statusOfMatrix(matrixJobs) ??
    running.find((status) => matrixJobs.some((job) => job.status === status)) ??
    matrixJobs.find((job) => !isFinal(job.status))!.status
  );
}

/**
 * Lays out a run: every job is one column after the last of the jobs that it needs. Null for a single job, which needs
 * no graph.
 */
export function viewJobGraph(jobs: readonly JobRow[], jobUrl: (job: JobRow) => string): JobGraphView | null {
  const groups = [...Map.groupBy(jobs, (job) => job.jobKey)];
  if (jobs.length < 2) return null;
  const needs = new Map(groups.map(([key, matrixJobs]) => [key, matrixJobs[0]!.needs]));
  const depths = new Map<string, number>();
  const depthOf = (key: string): number => {
    const known = depths.get(key);
    if (known !== undefined) return known;
    depths.set(key, 0);
    const depth = Math.max(-1, ...(needs.get(key) ?? []).map(depthOf)) + 1;
    depths.set(key, depth);
    return depth;
  };
  const ends = new Map<number, number>();
  const nodes = groups.map(([key, matrixJobs]) => {
    const depth = depthOf(key);
    const at = { x: box.margin + depth * (box.width + box.gapX), y: ends.get(depth) ?? box.margin };
    const inside = viewMembers(matrixJobs, jobUrl, at);
    ends.set(depth, at.y + inside.height + box.gapY);
    const first = matrixJobs.find((job) => job.status === 'failure') ?? matrixJobs[0]!;
    const label = matrixJobs.length > 1 ? `${key} (${matrixJobs.length})` : matrixJobs[0]!.name;
    return {
      key,
      label: label.length > maxLabel ? `${label.slice(0, maxLabel - 1)}…` : label,
      url: jobUrl(first),
      status: viewStatus(statusOf(matrixJobs)),
      ...at,
      ...inside,
    };
  });
  const at = new Map(nodes.map((node) => [node.key, node]));
  const edges = nodes.flatMap((node) =>
    (needs.get(node.key) ?? []).flatMap((need) => (at.has(need) ? [curve(at.get(need)!, node)] : [])),
  );
  return {
    width: Math.max(...nodes.map(({ x }) => x)) + box.width + box.margin,
    height: Math.max(...nodes.map(({ y, height }) => y + height)) + box.margin,
    nodes,
    edges,
  };
}

/** The states of matrix jobs in rows below the label of their box, and the height of the box. */
function viewMembers(
  matrixJobs: readonly JobRow[],
  jobUrl: (job: JobRow) => string,
  at: { x: number; y: number },
): Pick<NodeView, 'members' | 'hidden' | 'height'> {
  if (matrixJobs.length < 2) return { members: [], hidden: null, height: box.height };
  const placeOf = (index: number) => ({
    x: at.x + 8 + (index % member.columns) * member.size,
    y: at.y + box.height - 4 + Math.floor(index / member.columns) * member.size,
  });
  const places = member.columns * member.maxRows;
  const shown = matrixJobs.length > places ? places - 2 : matrixJobs.length;
  const rows = Math.min(member.maxRows, Math.ceil(matrixJobs.length / member.columns));
  return {
    members: matrixJobs.slice(0, shown).map((job, index) => ({
      label: job.name,
      url: jobUrl(job),
      status: viewStatus(job.status),
      ...placeOf(index),
    })),
    hidden: shown === matrixJobs.length ? null : { count: matrixJobs.length - shown, ...placeOf(shown) },
    height: box.height + rows * member.size,
  };
}

function curve(from: NodeView, to: NodeView): string {
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
