import { Menu, useMantineColorScheme } from '@mantine/core';
import IconCheck from '@tabler/icons-react/dist/esm/icons/IconCheck.mjs';
import IconDeviceDesktop from '@tabler/icons-react/dist/esm/icons/IconDeviceDesktop.mjs';
import IconKeyboard from '@tabler/icons-react/dist/esm/icons/IconKeyboard.mjs';
import IconLogout from '@tabler/icons-react/dist/esm/icons/IconLogout.mjs';
import IconMoon from '@tabler/icons-react/dist/esm/icons/IconMoon.mjs';
import IconSettings from '@tabler/icons-react/dist/esm/icons/IconSettings.mjs';
import IconSun from '@tabler/icons-react/dist/esm/icons/IconSun.mjs';
import { useRouter } from '@tanstack/react-router';
import { asAPIError } from '@/api';
import { leave } from '@/features/session/actions';
import { useMe } from '@/features/session/me';
import { notify } from '@/ui/notify';
import { AccountFace } from './faces';
import classes from './Header.module.css';

const schemes = [
  ['light', 'Light', IconSun],
  ['dark', 'Dark', IconMoon],
  ['auto', 'As the system', IconDeviceDesktop],
] as const;

export default function AccountMenu({ showKeys }: { showKeys: () => void }) {
  const { me, org, orgs } = useMe();
  const router = useRouter();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const small = { size: 16, stroke: 1.6, 'aria-hidden': true } as const;
  return (
    <Menu position="bottom-end" width={240} withinPortal={false}>
      <Menu.Target>
        <AccountFace />
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <strong>{me.name}</strong>
          <span>{me.email}</span>
          {orgs.length === 1 && <span>{org(orgs[0]?.id)?.name}</span>}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconSettings {...small} />} onClick={() => router.history.push('/account')}>
          Account and settings
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard {...small} />} onClick={showKeys}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(([value, label, Icon]) => (
          <Menu.Item
            key={value}
            leftSection={<Icon {...small} />}
            rightSection={colorScheme === value ? <IconCheck size={15} aria-label="chosen" /> : undefined}
            closeMenuOnClick={false}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout {...small} />}
          onClick={() => leave().catch((err) => notify.failed('log out', asAPIError(err)))}
        >
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
