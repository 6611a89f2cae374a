import { UnstyledButton } from '@mantine/core';
import IconSelector from '@tabler/icons-react/dist/esm/icons/IconSelector.mjs';
import type { ComponentProps } from 'react';
import { useMe } from '@/features/session/me';
import { Initials } from '@/ui/Initials';
import classes from './Header.module.css';
import { usePlace } from './place';

// What the header's menus look like while they are closed. Their code comes later.

export function AccountFace(props: ComponentProps<'button'>) {
  const { me } = useMe();
  return (
    <UnstyledButton {...props} className={classes.account} aria-label={`Account of ${me.name}`}>
      <Initials name={me.name} size={30} />
    </UnstyledButton>
  );
}

export function ProjectName(props: ComponentProps<'button'>) {
  const b = useMe();
  const { project, orgId } = usePlace();
  const org = b.org(orgId);
  if (b.projects.length === 0) return <span className={classes.orgOnly}>{org?.name}</span>;
  return (
    <UnstyledButton
      {...props}
      className={classes.switcher}
      aria-label={`Project ${project?.name ?? 'none'} of ${org?.name ?? 'no organization'}: switch`}
    >
      <span className={classes.switcherOrg}>{org?.name}</span>
      <span className={classes.slash} aria-hidden="true">
        /
      </span>
      <span className={classes.switcherProject}>{project?.name ?? 'No project'}</span>
      <IconSelector size={15} aria-hidden="true" />
    </UnstyledButton>
  );
}
