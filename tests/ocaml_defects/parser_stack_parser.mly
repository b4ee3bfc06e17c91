%token <int> INT
%token <string> WORD
%token END
%start main
%type <string list> main
%%
main: items END { $1 };
items: { [] } | items item { $2 :: $1 };
item: number { string_of_int $1 } | word { $1 ^ "." };
number: INT { Thread.yield (); $1 };
word: WORD { Thread.yield (); $1 };
