import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { live } from '@/app/query';
import { useMe } from '@/features/session/me';
import { Ago } from '@/ui/Ago';
import { Section } from '@/ui/Section';
import classes from './home.module.css';
import { claimsQuery } from './queries';

/** What the person began and holds. */
export function Held() {
  const b = useMe();
  const { data } = useQuery({ ...claimsQuery, refetchInterval: live });
  if (!data || data.claims.length === 0) return null;
  return (
    <Section title="Go on with">
      <ul className={classes.cards}>
        {data.claims.map((c) => (
          <li key={c.claim_id}>
            <Link to="/claims/$claimId" params={{ claimId: c.claim_id }} className={classes.held}>
              <span className={classes.heldTitle}>
                {b.pipeline(c.pipeline_id)?.name ?? 'Pipeline'} · task {c.task_id}
              </span>
              <span className={classes.dim}>
                {c.kind === 'review' ? 'Review' : 'Task'}, its time ends <Ago at={c.lease_expires_at} />
                {c.iteration > 1 && `, round ${c.iteration}`}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
