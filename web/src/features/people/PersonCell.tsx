import type { Person } from '@/api';
import { Initials } from '@/ui/Initials';
import classes from './people.module.css';

export function PersonCell({ person, me }: { person: Person; me: boolean }) {
  return (
    <div className={classes.person}>
      <Initials name={person.name} />
      <div className={classes.names}>
        <span className={classes.name}>
          {person.name}
          {me && <span className={classes.you}>you</span>}
        </span>
        <span className={classes.email}>{person.email}</span>
      </div>
    </div>
  );
}
