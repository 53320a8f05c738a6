import { EmptyState } from "@/parts/EmptyState";
import { LinkButton } from "@/parts/Button";
import { useTitle } from "@/store/title";

export default function Missing() {
  useTitle("No such page");
  return (
    <EmptyState isPage title="There is no such page" action={<LinkButton href="/">To the chat</LinkButton>}>
      The address may be from another version of the console.
    </EmptyState>
  );
}
