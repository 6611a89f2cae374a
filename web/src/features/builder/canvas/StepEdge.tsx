import { ActionIcon, Badge, Tooltip } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { BaseEdge, EdgeLabelRenderer, type EdgeProps, type Edge as FlowEdge, getBezierPath } from '@xyflow/react';
import { memo } from 'react';
import classes from './canvas.module.css';

export type StepEdgeData = { label: string | null; index: number; onInsert: (index: number) => void };
export type StepEdgeType = FlowEdge<StepEdgeData, 'step'>;

/** A connection, with its condition in words and a button that puts a step into it. */
export const StepEdge = memo(function StepEdge(props: EdgeProps<StepEdgeType>) {
  const [path, x, y] = getBezierPath(props);
  const { data, selected } = props;
  return (
    <>
      <BaseEdge id={props.id} path={path} markerEnd={props.markerEnd} interactionWidth={24} />
      <EdgeLabelRenderer>
        <div
          className={classes.edgeLabel}
          data-selected={selected || undefined}
          style={{ transform: `translate(${data?.label ? '-50%' : '8px'}, -50%) translate(${x}px, ${y}px)` }}
        >
          {data?.label && (
            <Badge
              variant="default"
              tt="none"
              fw={500}
              size="md"
              maw={150}
              className={classes.condition}
              title={data.label}
            >
              {data.label}
            </Badge>
          )}
          <Tooltip label="Add a step here">
            {/* By keyboard: the step's own "Add", or the connection's panel. */}
            <ActionIcon
              tabIndex={-1}
              size={20}
              radius="xl"
              variant="default"
              className={classes.insert}
              aria-label="Add a step here"
              onClick={(e) => {
                e.stopPropagation();
                if (data) data.onInsert(data.index);
              }}
            >
              <IconPlus size={12} />
            </ActionIcon>
          </Tooltip>
        </div>
      </EdgeLabelRenderer>
    </>
  );
});
