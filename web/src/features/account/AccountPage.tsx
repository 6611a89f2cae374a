import { useMe } from '@/features/session/me';
import { Page } from '@/ui/Page';
import { Password } from './Password';
import { Sessions } from './Sessions';
import { Settings } from './Settings';

/** The person's own things. */
export default function AccountPage() {
  const { me } = useMe();
  return (
    <Page title="Account" lead={`${me.name}, ${me.email}`} width={760}>
      <Settings />
      <Password />
      <Sessions />
    </Page>
  );
}
