"""The subcommands of `%acp` as data: what each is called, does and takes. Runs nothing."""

from __future__ import annotations

from acp_notebook.client.live.policy_names import POLICY_NAMES
from acp_notebook.kernel.magic.arguments import Subcommand, option

_LABEL = option("label", nargs="?", help="the agent's label; by default the one used last")

PROMPT_OPTIONS = (
    option("--to", metavar="LABEL", help="the agent that gets it; by default the one used last"),
    option("--out", metavar="NAME", help="put the Turn into this variable"),
    option("--background", action="store_true", help="return at once; see `%%acp wait`"),
    option("--new", action="store_true", help="in a new session"),
    option("--permissions", metavar="POLICY", help=f"{POLICY_NAMES}, or a function's name"),
    option("--timeout", type=float, metavar="S", help="wait at most so many seconds"),
    option("--check", action="store_true", help="raise unless the turn ends with end_turn"),
    option("--quiet", action="store_true", help="show nothing"),
    option(
        "--attach",
        action="append",
        default=[],
        metavar="EXPR",
        help="what this expression gives goes with it; repeatable",
    ),
    option("--preview", action="store_true", help="show what would be sent, and send nothing"),
    option(
        "--cache",
        action="store_true",
        help="show the recorded turn of the same prompt, context and agent, if there is one",
    ),
)

SUBCOMMANDS = {
    subcommand.name: subcommand
    for subcommand in (
        Subcommand(
            "start",
            "Start an agent, initialize it and open a session.",
            (
                option("name", nargs="?", help="a known agent, such as demo, or wss://... of one"),
                option("--as", dest="label", metavar="LABEL", help="what to call it"),
                option("--cwd", default=".", help="the folder it works in; by default this one"),
                option(
                    "--dir",
                    dest="directories",
                    action="append",
                    default=[],
                    metavar="DIR",
                    help="a further folder it works in; repeatable",
                ),
                option("--protocol", type=int, metavar="N", help="1 forces v1"),
                option("--env", action="append", default=[], metavar="K=V", help="repeatable"),
                option(
                    "--cache",
                    action="store_true",
                    help="if it cannot start, go on: prompts with --cache show recorded turns",
                ),
                option(
                    "--permissions",
                    metavar="POLICY",
                    help=f"{POLICY_NAMES}, or a function",
                ),
                option(
                    "--no-tools",
                    dest="tools",
                    action="store_false",
                    help="do not let it look at variables or ask to run code in this kernel",
                ),
                option(
                    "--serve",
                    default="",
                    metavar="WHAT",
                    help="what a v1 agent may use through this notebook: read,write,terminal",
                ),
            ),
            takes_command=True,
        ),
        Subcommand(
            "prompt", "Send a prompt and wait for the end of its turn.", PROMPT_OPTIONS, "TEXT"
        ),
        Subcommand(
            "fix",
            "Send the last error with its cell and ask for a mended one; %acp insert puts it in.",
            PROMPT_OPTIONS,
            "[MORE TEXT]",
        ),
        Subcommand(
            "explain",
            "Have the previous cell and its output explained.",
            PROMPT_OPTIONS,
            "[MORE TEXT]",
        ),
        Subcommand(
            "insert",
            "Put a code block of the last reply into a new cell below; nothing is run.",
            (
                option("number", nargs="?", type=int, metavar="N", help="which one, from 1 on"),
                option("--turn", metavar="T", help="a turn's id, or a variable that holds a turn"),
            ),
        ),
        Subcommand("stop", "Cancel the agent's work; twice: end its process.", (_LABEL,)),
        Subcommand(
            "wait",
            "Wait for the agent's last turn and show it here.",
            (_LABEL, option("--timeout", type=float, metavar="S")),
        ),
        Subcommand("new", "Open a new session with the agent.", (_LABEL,)),
        Subcommand(
            "agents",
            "Show the agents that can be started by name, and what is missing for the others.",
            (option("words", nargs="*", help="only those whose line holds these words"),),
        ),
        Subcommand(
            "sessions",
            "Show the sessions that the agent keeps, and how to take one up.",
            (_LABEL, option("--all", action="store_true", help="of every folder")),
        ),
        Subcommand(
            "resume",
            "Take up an earlier session and show its conversation.",
            (
                option("id", help="the session's id"),
                option("--to", metavar="LABEL"),
                option("--no-replay", action="store_true", help="do not have it told again"),
            ),
        ),
        Subcommand(
            "close",
            "Close the present session, or the one named.",
            (option("id", nargs="?"), option("--to", metavar="LABEL")),
        ),
        Subcommand(
            "delete",
            "Delete a session for good.",
            (option("id", help="the session's id"), option("--to", metavar="LABEL")),
        ),
        Subcommand("options", "Show mode, model and the agent's other options.", (_LABEL,)),
        Subcommand(
            "set",
            "Set an option of the agent, such as its mode.",
            (
                option("id", help="the option"),
                option("value", help="one of its values"),
                option("--to", metavar="LABEL"),
            ),
        ),
        Subcommand(
            "permissions",
            f"Show or set the permission policy: {POLICY_NAMES}, or a function's name.",
            (
                option("policy", nargs="?", help="or forget: take back what a session may do"),
                option("--to", metavar="LABEL"),
            ),
        ),
        Subcommand("commands", "Show the agent's slash commands.", (_LABEL,)),
        Subcommand(
            "trace",
            "Show the messages between this notebook and the agent.",
            (
                _LABEL,
                option("--last", type=int, metavar="N", help="only the last N messages"),
                option("--turn", action="store_true", help="only those since the last prompt"),
                option("--only", metavar="WORD", help="only those whose name holds this word"),
                option(
                    "--save", metavar="FILE", help="write them to a file, one JSON object a line"
                ),
            ),
        ),
        Subcommand(
            "login",
            "Log in to the agent, then do anew what it refused.",
            (
                option("method", nargs="?", help="one of the agent's ways; not needed for one"),
                option("--to", metavar="LABEL"),
            ),
        ),
        Subcommand("logout", "Log out of the agent, where it offers that.", (_LABEL,)),
        Subcommand("log", "Show what the agent wrote to stderr.", (_LABEL,)),
        Subcommand(
            "quit",
            "End the agent and all its processes.",
            (_LABEL, option("--all", action="store_true", help="end every agent")),
        ),
        Subcommand("help", "Show what %acp can do.", (option("topic", nargs="?"),)),
    )
}


def takes_prompt(subcommand: Subcommand) -> bool:
    """Whether what is written behind it is a prompt, with the rules of prompts."""
    return subcommand.options is PROMPT_OPTIONS


CELL = Subcommand("", "Send the cell as a prompt.", PROMPT_OPTIONS, "[MORE TEXT]")
